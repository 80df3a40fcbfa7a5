#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "spool/recorder.hpp"

namespace memreplay::capture {

inline void note(Call call, const void* block, std::size_t size = 0, std::size_t alignment = 0) {
  const auto log2 = static_cast<std::uint8_t>(alignment == 0 ? 0 : std::bit_width(alignment) - 1);
  write(Record{.address = reinterpret_cast<std::uintptr_t>(block),
               .what = described(call, size, log2)});
}

}  // namespace memreplay::capture
