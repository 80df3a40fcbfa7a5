#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/mrt/about_code.hpp"

namespace memreplay {

// A file: the front, blocks of events, what is said about them (MrtAbout), the end. Plain numbers
// are little-endian; other whole numbers are LEB128. README.md beside this has the layout in words.

inline constexpr std::string_view kMrtMagic = "\x93memreplay-mrt\n";
inline constexpr std::uint8_t kMrtVersion = 1;  ///< the byte after the magic
inline constexpr std::size_t kMrtFrontBytes = 16;
inline constexpr std::string_view kMrtEndMagic = "mrt-end\n";

/// Events of a block, at most; of all but the last one of a trace exactly so many.
inline constexpr std::size_t kMrtBlockEvents = 1 << 16;

/// In front of a block's payload.
struct MrtBlockHead {
  std::uint32_t trace = 0;
  std::uint32_t events = 0;
  std::uint32_t bytes = 0;  ///< size of the payload
  std::uint32_t crc = 0;    ///< checksum of the three numbers and the payload

  friend bool operator==(const MrtBlockHead&, const MrtBlockHead&) = default;
};

/// Comes last in the file.
struct MrtEnd {
  std::uint64_t about_at = 0;  ///< offset of what is said about the blocks; it ends here
  std::uint32_t crc = 0;       ///< checksum of what is said
  std::uint32_t zero = 0;
  char magic[8] = {};
};

/// All that is no event.
struct MrtAbout {
  Recording recording;               ///< its traces without events
  std::vector<EventTotals> totals;   ///< by trace
  std::vector<MrtBlockHead> blocks;  ///< as they follow each other from the front on
};

auto fields(Is<MrtBlockHead> auto& x) { return std::tie(x.trace, x.events, x.bytes, x.crc); }
auto fields(Is<MrtAbout> auto& x) { return std::tie(x.recording, x.totals, x.blocks); }

std::uint32_t mrt_crc(std::string_view bytes, std::uint32_t before = 0);
std::uint32_t mrt_crc(const MrtBlockHead& head, std::string_view payload);

}  // namespace memreplay
