#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "trace/mrt/block_code.hpp"
#include "trace/mrt/mrt_bytes.hpp"
#include "trace/reader.hpp"
#include "trace/trace.hpp"

namespace memreplay {

template <typename T, typename Struct>
concept Is = std::same_as<std::remove_cvref_t<T>, Struct>;

// What of each struct is in a file, in this order, for writing and reading.
auto fields(Is<StreamPool> auto& x) { return std::tie(x.stream, x.pool); }
auto fields(Is<PoolId> auto& x) { return std::tie(x.first, x.second); }
auto fields(Is<BlockInfo> auto& x) {
  return std::tie(x.address, x.size, x.requested, x.state, x.slot, x.stack);
}
auto fields(Is<SegmentInfo> auto& x) {
  return std::tie(x.address, x.size, x.stream, x.pool, x.small_pool, x.expandable, x.age, x.blocks);
}
auto fields(Is<MemoryState> auto& x) { return std::tie(x.segments); }
auto fields(Is<Coverage> auto& x) {
  return std::tie(x.starts_empty, x.complete, x.preexisting_blocks, x.preexisting_bytes, x.dropped,
                  x.synthesised, x.gapless, x.full_ring);
}
auto fields(Is<RecordedSettings> auto& x) {
  return std::tie(x.present, x.conf, x.conf_variable, x.max_split_size,
                  x.garbage_collection_threshold, x.expandable_segments, x.roundup_power2_divisions,
                  x.request_padding, x.request_padding_range, x.large_alignment, x.memory_limit,
                  x.oldest_release);
}
auto fields(Is<Frame> auto& x) { return std::tie(x.name, x.file, x.line); }
auto fields(Is<Annotation> auto& x) { return std::tie(x.text, x.begins, x.gpu, x.time_us); }
auto fields(Is<EventTotals> auto& x) {
  return std::tie(x.events, x.allocs, x.frees, x.program_alone, x.requests_say_more,
                  x.peak_requested, x.peak_event, x.times_us);
}
/// But for its events.
auto fields(Is<Trace> auto& x) {
  return std::tie(x.gpu, x.slot_count, x.lanes, x.streams, x.pools, x.start, x.end, x.coverage);
}
/// Without its path, and what comes after the blocks.
auto fields(Is<Recording> auto& x) {
  return std::tie(x.format, x.detail, x.traces, x.settings, x.annotations, x.texts, x.frames,
                  x.stacks);
}

/// What a log does not say, and where what was repaired is met first: after all else, and only
/// where there is any of it, as files from before do not have it.
struct MrtRemarks {
  std::vector<std::map<std::string, std::string>> first_places;  ///< by trace
  std::vector<std::string> lacks;
  std::string why_no_trace;
  std::vector<Bytes> cached;  ///< by trace; a part of its own, which older files do not have

  bool say_what_was_cached() const {
    return std::ranges::any_of(cached, [](Bytes bytes) { return bytes > 0; });
  }
  bool say_anything() const {
    return !lacks.empty() || !why_no_trace.empty() || say_what_was_cached() ||
           std::ranges::any_of(first_places, [](const auto& places) { return !places.empty(); });
  }
};
auto fields(Is<MrtRemarks> auto& x) { return std::tie(x.first_places, x.lacks, x.why_no_trace); }

inline MrtRemarks remarks_on(const Recording& recording) {
  MrtRemarks remarks{.first_places = {},
                     .lacks = recording.lacks,
                     .why_no_trace = recording.why_no_trace,
                     .cached = {}};
  for (const Trace& trace : recording.traces) {
    remarks.first_places.push_back(trace.coverage.first_places);
    remarks.cached.push_back(trace.coverage.cached_bytes);
  }
  return remarks;
}

/// Writes values one after the other: whole numbers as numbers, all that has a length with it.
class AboutWriter {
 public:
  explicit AboutWriter(std::string& out) : out_(out) {}

  template <typename T>
  void put(const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      put_number(out_, value.size());
      out_ += value;
    } else if constexpr (std::is_same_v<T, double>) {
      out_.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else if constexpr (std::is_signed_v<T>) {
      put_number(out_, zigzag(value));
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      put_number(out_, static_cast<std::uint64_t>(value));
    } else {
      put_parts(value);
    }
  }

 private:
  template <typename T>
  void put_parts(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <typename A, typename B>
  void put_parts(const std::pair<A, B>& value) {
    put(value.first);
    put(value.second);
  }
  template <typename T, std::size_t N>
  void put_parts(const std::array<T, N>& values) {
    for (const T& value : values) put(value);
  }
  template <typename T>
  void put_parts(const std::vector<T>& values) {
    put(values.size());
    for (const T& value : values) put(value);
  }
  template <typename K, typename V>
  void put_parts(const std::map<K, V>& values) {
    put(values.size());
    for (const auto& [key, value] : values) {
      put(key);
      put(value);
    }
  }
  template <typename T>
  void put_parts(const T& value) {
    std::apply([this](const auto&... field) { (put(field), ...); }, fields(value));
  }

  std::string& out_;
};

/// Reads them again. Nothing becomes larger than some hundred times the bytes that there are.
/// Throws MrtFault.
class AboutReader {
 public:
  explicit AboutReader(ByteCursor& in) : in_(in) {}

  template <typename T>
  void take(T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      value = in_.bytes(in_.number());
    } else if constexpr (std::is_same_v<T, double>) {
      value = in_.plain<double>();
    } else if constexpr (std::is_signed_v<T>) {
      value = within<T>(unzigzag(in_.number()));
    } else if constexpr (std::is_same_v<T, BlockState>) {
      const std::uint64_t number = in_.number();
      if (number > static_cast<std::uint64_t>(BlockState::free)) throw MrtFault("an unknown state");
      value = static_cast<BlockState>(number);
    } else if constexpr (std::is_same_v<T, bool>) {
      value = within<std::uint8_t>(in_.number()) != 0;
    } else if constexpr (std::is_integral_v<T>) {
      value = within<T>(in_.number());
    } else {
      take_parts(value);
    }
  }

 private:
  template <typename T, typename Number>
  static T within(Number number) {
    if (!std::in_range<T>(number)) throw MrtFault("a number beyond its type");
    return static_cast<T>(number);
  }
  std::size_t take_count() {
    const std::uint64_t count = in_.number();
    if (count > in_.left()) throw MrtFault("ends too early");  // each takes a byte at least
    return count;
  }

  template <typename T>
  void take_parts(std::optional<T>& value) {
    bool there = false;
    take(there);
    if (there) take(value.emplace());
  }
  template <typename A, typename B>
  void take_parts(std::pair<A, B>& value) {
    take(value.first);
    take(value.second);
  }
  template <typename T, std::size_t N>
  void take_parts(std::array<T, N>& values) {
    for (T& value : values) take(value);
  }
  template <typename T>
  void take_parts(std::vector<T>& values) {
    for (std::size_t left = take_count(); left > 0; --left) take(values.emplace_back());
  }
  template <typename K, typename V>
  void take_parts(std::map<K, V>& values) {
    for (std::size_t left = take_count(); left > 0; --left) {
      K key{};
      take(key);
      take(values[key]);
    }
  }
  template <typename T>
  void take_parts(T& value) {
    std::apply([this](auto&... field) { (take(field), ...); }, fields(value));
  }

  ByteCursor& in_;
};

// A file: the front, blocks of events, what is said about them (MrtAbout), the end. Plain numbers
// are little-endian; other whole numbers are LEB128. README.md beside this has the layout in words.

inline constexpr std::string_view kMrtMagic = "\x93memreplay-mrt\n";
/// The byte after the magic. Before version 2 no section of events is packed.
inline constexpr std::uint8_t kMrtVersion = 2;
inline constexpr std::uint8_t kOldestMrtVersion = 1;
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

/// Reads all but the blocks, and checks that they fit together: every number refers to something
/// that is there, and the blocks tile the file. Throws InputError.
MrtAbout read_mrt_about(const Input& input);

/// How far the numbers of the trace's blocks may go.
NumberLimits mrt_limits(const Recording& recording, const Trace& trace);

/// Decodes a block, given with its head, which must be `expected`. Throws MrtFault.
void decode_mrt_block(std::string_view block, const MrtBlockHead& expected, BlockDecoder& decoder,
                      EventColumns& events);

/// "block 12": by number in MrtAbout::blocks.
std::string mrt_place(std::size_t block);

}  // namespace memreplay
