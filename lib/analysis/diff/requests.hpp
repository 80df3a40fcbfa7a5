#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/diff/common_places.hpp"
#include "analysis/recorded/steps.hpp"

namespace memreplay {

/// A request as its program made it.
struct RequestMade {
  std::uint64_t event = 0;
  Bytes size = 0;
  std::string place;  ///< empty: no stack was recorded
  StreamIndex stream = 0;
  bool private_pool = false;
  bool refused = false;  ///< by the recorded allocator
};

/// Where two programs first ask for something else.
struct RequestDifference {
  std::uint64_t step = 0;        ///< 0: before the first, or no steps
  std::uint64_t number = 0;      ///< of the request within the step, from 1
  std::optional<RequestMade> a;  ///< nothing: it made fewer requests in this step
  std::optional<RequestMade> b;
};

struct RequestsDiff {
  std::optional<RequestDifference> first;  ///< nothing: all requests are the same, in order
  /// Requests are freed in the same order too, between the same requests.
  bool same_frees = true;
  std::uint64_t a_requests = 0;
  std::uint64_t b_requests = 0;
  /// The first step in which both make as many requests, but not the same ones.
  std::optional<RequestDifference> first_in_equal_step;
};

/// Step k of one is laid beside step k of the other; everything where one has no steps. O(events).
RequestsDiff diff_requests(const CommonPlaces& places, const RecordedTrace& a, const Steps& a_steps,
                           const RecordedTrace& b, const Steps& b_steps);

}  // namespace memreplay
