#pragma once

#include "extensions/what_if/find/answer.hpp"

namespace memreplay {

struct NeedOf {
  std::int64_t value = 0;
  Bytes requested = 0;
  Bytes reserved = 0;
  bool recorded = false;
};

/// What was tried of a batch on a device of 100 MiB.
inline FoundValue found_batch(const std::vector<NeedOf>& needs, const char* strategy = "torch") {
  FoundValue found{.strategy = strategy, .device = {}, .largest = {}};
  found.device.capacity = 100 * kMiB;
  for (const NeedOf& need : needs) {
    const bool fits = need.reserved <= *found.device.capacity;
    found.tried.push_back({.value = need.value,
                           .recorded = need.recorded,
                           .fits = fits,
                           .peak_requested = need.requested,
                           .peak_allocated = need.requested + kMiB,
                           .peak_reserved = need.reserved});
    if (fits) found.largest = need.value;
  }
  return found;
}

/// 4 is the largest that fits.
inline FoundValue found_four() {
  return found_batch({{.value = 1, .requested = 20 * kMiB, .reserved = 40 * kMiB, .recorded = true},
                      {.value = 2, .requested = 40 * kMiB, .reserved = 50 * kMiB, .recorded = true},
                      {.value = 4, .requested = 80 * kMiB, .reserved = 90 * kMiB},
                      {.value = 5, .requested = 100 * kMiB, .reserved = 110 * kMiB},
                      {.value = 8, .requested = 160 * kMiB, .reserved = 200 * kMiB}});
}

inline FindAnswer found_answer(std::vector<FoundValue> found) {
  FindAnswer answer;
  answer.facts.name = "batch";
  answer.facts.value = 4;
  answer.facts.sources = {{.path = "one.pickle", .value = 1}, {.path = "two.pickle", .value = 2}};
  answer.found = std::move(found);
  return answer;
}

}  // namespace memreplay
