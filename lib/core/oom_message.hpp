#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.hpp"

namespace memreplay {

/// A size as a text has it: "1.87 GiB" is less than `within` away from the truth, "4864" is it.
struct RoundedBytes {
  Bytes bytes = 0;
  Bytes within = 0;

  friend bool operator==(const RoundedBytes&, const RoundedBytes&) = default;
};

/// Unset where one of the two is. A difference is 0 at least.
std::optional<RoundedBytes> sum_of(const std::optional<RoundedBytes>& a,
                                   const std::optional<RoundedBytes>& b);
std::optional<RoundedBytes> difference_of(const std::optional<RoundedBytes>& a,
                                          const std::optional<RoundedBytes>& b);

/// Sizes that messages state (oom_message.def).
enum class Figure : std::uint8_t {
#define MEMREPLAY_FIGURE(name, label) name,
#include "core/oom_message.def"
  end
};
enum class Count : std::uint8_t {
#define MEMREPLAY_COUNT(name) name,
#include "core/oom_message.def"
  end
};
enum class OomWord : std::uint8_t {
#define MEMREPLAY_WORD(name) name,
#include "core/oom_message.def"
  end
};

inline constexpr std::size_t kFigures = static_cast<std::size_t>(Figure::end);
inline constexpr std::size_t kCounts = static_cast<std::size_t>(Count::end);
inline constexpr std::size_t kWords = static_cast<std::size_t>(OomWord::end);

std::string_view name_of(Figure figure);  ///< "live_peak"
std::string_view name_of(Count count);
std::string_view name_of(OomWord word);
/// Its label in a table of facts; empty for a figure that stands beside another one.
std::string_view label_of(Figure figure);

/// Chunks of one class of sizes, the free ones and those in use.
struct ChunkBin {
  Bytes from = 0;
  std::uint64_t chunks = 0;
  std::uint64_t in_use = 0;
  RoundedBytes size;
  RoundedBytes size_in_use;

  friend bool operator==(const ChunkBin&, const ChunkBin&) = default;
};

/// What a process holds of a device, where a message names it.
struct ProcessUse {
  std::uint64_t id = 0;
  RoundedBytes held;

  friend bool operator==(const ProcessUse&, const ProcessUse&) = default;
};

/// A release of PyTorch, or of another program, between which a wording was in use: {2, 1}.
struct WordingRelease {
  int major = 0;
  int minor = 0;

  friend auto operator<=>(const WordingRelease&, const WordingRelease&) = default;
};

/// Where a program runs, as far as a text shows it.
enum class Platform : std::uint8_t { unknown, windows, wsl, jetson };

/// What one message says about memory: figures of one moment, no history. What it lacks is unset.
struct OomMessage {
  std::string kind;    ///< registered reader of it: "torch", "bfc"
  std::string detail;  ///< for people: "PyTorch's OOM message"
  std::array<std::optional<RoundedBytes>, kFigures> figures;
  std::array<std::optional<std::uint64_t>, kCounts> counts;
  std::array<std::string, kWords> words;
  std::vector<ProcessUse> processes;  ///< in the order in which it names them
  std::vector<ChunkBin> bins;         ///< only bins with chunks
  std::vector<std::string>
      overflows;          ///< figures beyond any device, as written: "17179869184.00 GiB"
  bool harmless = false;  ///< it says itself that nothing failed
  bool works = false;     ///< the text shows that the program went on, and nothing that failed
  Platform platform = Platform::unknown;
  bool expandable_segments = false;     ///< it says that they are on
  std::optional<WordingRelease> since;  ///< first release with its wording
  std::optional<WordingRelease> until;  ///< last one
  std::uint64_t times = 1;              ///< how often the text has it

  std::optional<RoundedBytes>& operator[](Figure f) { return figures[static_cast<std::size_t>(f)]; }
  const std::optional<RoundedBytes>& operator[](Figure f) const {
    return figures[static_cast<std::size_t>(f)];
  }
  std::optional<std::uint64_t>& operator[](Count c) { return counts[static_cast<std::size_t>(c)]; }
  const std::optional<std::uint64_t>& operator[](Count c) const {
    return counts[static_cast<std::size_t>(c)];
  }
  std::string& operator[](OomWord w) { return words[static_cast<std::size_t>(w)]; }
  const std::string& operator[](OomWord w) const { return words[static_cast<std::size_t>(w)]; }

  friend bool operator==(const OomMessage&, const OomMessage&) = default;
};

/// A text without events: every message in it that is about memory, in its order.
struct PastedText {
  std::vector<OomMessage> messages;
};

}  // namespace memreplay
