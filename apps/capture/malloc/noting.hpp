#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "spool/recorder.hpp"

namespace memreplay::capture {

/// Each call has code of its own, as its form of entry is known.
template <Call call>
void note(const void* block, std::size_t size = 0, std::size_t alignment = 0) {
  constexpr bool is_end = call == Call::free || call == Call::reallocating;
  const auto log2 = static_cast<std::uint8_t>(alignment == 0 ? 0 : std::bit_width(alignment) - 1);
  write(Record{.address = reinterpret_cast<std::uintptr_t>(block),
               .what = is_end ? described(call, 0) : described(call, size, log2)});
}

}  // namespace memreplay::capture
