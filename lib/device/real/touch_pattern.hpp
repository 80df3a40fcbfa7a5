#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define MEMREPLAY_ANYWHERE __host__ __device__
#else
#define MEMREPLAY_ANYWHERE
#endif

namespace memreplay {

/// How much of a block is written when it is placed, and compared when it is freed.
enum class Touch {
  none,
  edges,  ///< its first and its last bytes, and the first word of every 4 KiB of addresses
  all,    ///< every byte
};

/// Words of 8 bytes, at addresses that are multiples of 8.
inline constexpr std::uint64_t kTouchWord = 8;
/// Bytes of a stride: of each, Touch::edges touches a word.
inline constexpr std::uint64_t kTouchStride = 4096;

/// The content of the word at this address while the block with this tag lives. Blocks have
/// distinct tags, and two never agree at one address.
MEMREPLAY_ANYWHERE constexpr std::uint64_t touch_word(std::uint64_t tag, std::uint64_t address) {
  return (tag * 0x9e3779b97f4a7c15ull) ^ ((address / kTouchWord) * 0xd6e8feb86659fd93ull);
}

/// The byte at this address: its part of the word, lowest first.
MEMREPLAY_ANYWHERE constexpr std::uint8_t touch_byte(std::uint64_t tag, std::uint64_t address) {
  return static_cast<std::uint8_t>(touch_word(tag, address) >> (8 * (address % kTouchWord)));
}

}  // namespace memreplay
