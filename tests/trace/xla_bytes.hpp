#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/profile_bytes.hpp"

namespace memreplay {

/// An event of XLA's heap simulator: 'a' allocates, 'f' frees, 's' shares the place of another.
struct XlaEvent {
  char kind = 'a';
  std::uint64_t value = 0;
  std::uint64_t other = 0;
};
struct XlaValue {
  std::uint64_t id = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
};

/// A module with the assignment of its buffers; values without an event lie outside of the heap.
inline std::string xla_module(const std::vector<XlaValue>& values,
                              const std::vector<XlaEvent>& events, std::uint64_t total) {
  const auto text = [](std::uint64_t number, const char* words) {
    return field(number, std::string(words));
  };
  const std::string module =
      text(1, "jit_f") + text(2, "main") + field(3, text(1, "main") + field(2, text(1, "add")));
  std::string assignment, temporary = field(1, 3) + field(2, total), trace;
  for (const XlaValue& value : values) {
    assignment += field(1, field(1, value.id) + field(2, value.size));
    temporary += field(9, field(1, value.id) + field(2, value.offset) + field(3, value.size));
  }
  for (const XlaEvent& event : events) {
    std::string bytes = event.kind == 'a' ? "" : field(1, event.kind == 'f' ? 1 : 2);
    bytes += field(2, event.value) + text(4, event.value % 2 == 0 ? "even" : "odd");
    trace += field(1, event.kind == 's' ? bytes + field(5, event.other) : bytes);
  }
  assignment += field(3, field(2, 4096) + field(5, 1)) + field(3, temporary);
  return field(1, module) + field(3, assignment + field(4, trace + field(2, 1) + field(3, 3)));
}

}  // namespace memreplay
