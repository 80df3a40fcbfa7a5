#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "core/units.hpp"
#include "trace/reader.hpp"

namespace memreplay {

/// What a profiler's trace says of one block.
struct KinetoEvent {
  double time_us = 0;
  std::uint64_t index = UINT64_MAX;  ///< the recorder's own number, where it has one
  std::uint64_t byte = 0;            ///< where it ends in the file
  std::int64_t bytes = 0;            ///< below 0: of a free
  std::optional<Address> address;
  // By that allocator, right after it.
  std::optional<Bytes> allocated;
  std::optional<Bytes> reserved;
  std::uint64_t process = 0;  ///< 0: not known
  std::uint32_t thread = 0;   ///< 0: not known
  std::int16_t device = 0;    ///< -1: the host
  bool is_refused = false;    ///< the program did not get them
};

/// The events alone, not in a document.
bool is_event_list(std::string_view text);

/// In the order of the file, which is read once, and of which nothing is kept. Throws InputError.
void for_each_kineto_event(const Input& input, const std::function<void(const KinetoEvent&)>& use);

}  // namespace memreplay
