#include "trace/mrt/mrt_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kEndBytes = sizeof(MrtEnd);

/// The bytes of what is said about the blocks.
std::string_view about_bytes(const Input& input) {
  const std::string_view bytes = input.bytes;
  if (bytes.size() < kMrtFrontBytes + kEndBytes) throw MrtFault("is cut off");
  const auto version = static_cast<std::uint8_t>(bytes[kMrtMagic.size()]);
  if (version != kMrtVersion) {
    throw MrtFault(fmt::format("is of version {} of .mrt; expected {}", version, kMrtVersion));
  }
  const auto end = ByteCursor(bytes.substr(bytes.size() - kEndBytes)).plain<MrtEnd>();
  if (std::string_view(end.magic, sizeof end.magic) != kMrtEndMagic || end.zero != 0) {
    throw MrtFault("is cut off or damaged: its end is not that of an .mrt");
  }
  const std::size_t about_end = bytes.size() - kEndBytes;
  if (end.about_at < kMrtFrontBytes || end.about_at > about_end) {
    throw MrtFault("is damaged: its end points nowhere");
  }
  const std::string_view about = bytes.substr(end.about_at, about_end - end.about_at);
  if (mrt_crc(about) != end.crc) throw MrtFault("is damaged: the checksum of its end is wrong");
  return about;
}

void take_remarks(ByteCursor& in, AboutReader& reader, Recording& recording) {
  MrtRemarks remarks;
  reader.take(remarks);
  remarks.cached.resize(recording.traces.size());
  if (in.left() > 0) reader.take(remarks.cached);
  if (remarks.first_places.size() != recording.traces.size() ||
      remarks.cached.size() != recording.traces.size()) {
    throw MrtFault("remarks on other traces than there are");
  }
  for (std::size_t i = 0; i < recording.traces.size(); ++i) {
    recording.traces[i].coverage.first_places = std::move(remarks.first_places[i]);
    recording.traces[i].coverage.cached_bytes = remarks.cached[i];
  }
  recording.lacks = std::move(remarks.lacks);
  recording.why_no_trace = std::move(remarks.why_no_trace);
}

MrtAbout parsed(std::string_view bytes) {
  MrtAbout about;
  ByteCursor in(bytes);
  AboutReader reader(in);
  reader.take(about.recording);
  about.totals.resize(about.recording.traces.size());
  for (EventTotals& totals : about.totals) reader.take(totals);
  reader.take(about.blocks);
  if (in.left() > 0) take_remarks(in, reader, about.recording);
  if (in.left() > 0) throw MrtFault("says more than it should");
  return about;
}

/// Every number refers to something that there is.
class References {
 public:
  explicit References(const Recording& recording) : recording_(recording) {}

  void check() const {
    need(!recording_.texts.empty() && recording_.texts.front().empty());
    need(!recording_.stacks.empty() && recording_.stacks.front().empty());
    for (const Frame& frame : recording_.frames) need(is_text(frame.name) && is_text(frame.file));
    for (const auto& stack : recording_.stacks) {
      for (const std::uint32_t frame : stack) need(frame < recording_.frames.size());
    }
    for (const Annotation& annotation : recording_.annotations) need(is_text(annotation.text));
    for (const Trace& trace : recording_.traces) check(trace);
  }

 private:
  static void need(bool is_so) {
    if (!is_so) throw MrtFault("refers to what is not in it");
  }
  bool is_text(std::uint32_t number) const { return number < recording_.texts.size(); }

  void check(const Trace& trace) const {
    need(!trace.pools.empty() && trace.pools.front() == PoolId{});
    need(std::ranges::is_sorted(trace.streams) && trace.streams.size() <= kNoStream);
    for (const Lane& lane : trace.lanes) {
      need(lane.stream < trace.streams.size() && lane.pool < trace.pools.size());
    }
    for (const MemoryState* state : {&trace.start, &trace.end}) {
      for (const SegmentInfo& segment : state->segments) check(trace, segment);
    }
  }

  void check(const Trace& trace, const SegmentInfo& segment) const {
    need(segment.stream < trace.streams.size() && segment.pool < trace.pools.size());
    for (const BlockInfo& block : segment.blocks) {
      need(block.slot == kNoSlot || block.slot < trace.slot_count);
      need(block.stack < recording_.stacks.size());
    }
  }

  const Recording& recording_;
};

std::size_t blocks_of(const MemoryState& state) {
  std::size_t blocks = 0;
  for (const SegmentInfo& segment : state.segments) blocks += segment.blocks.size();
  return blocks;
}

/// Checks that the blocks tile `bytes` bytes, and that nothing is larger than they allow.
void check_blocks(const MrtAbout& about, std::uint64_t bytes) {
  std::vector<std::uint64_t> events(about.totals.size());
  std::uint64_t tiled = 0;
  for (const MrtBlockHead& head : about.blocks) {
    // Each event takes a byte at least.
    const bool fits = head.trace < events.size() && head.events > 0 &&
                      head.events <= kMrtBlockEvents && head.events <= head.bytes;
    if (!fits) throw MrtFault("lists a block that cannot be");
    events[head.trace] += head.events;
    tiled += sizeof head + head.bytes;
  }
  if (tiled != bytes) throw MrtFault("lists other blocks than there are");
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Trace& trace = about.recording.traces[i];
    if (events[i] != about.totals[i].events) throw MrtFault("counts other events than there are");
    if (trace.slot_count > events[i] + blocks_of(trace.start)) {
      throw MrtFault("has more blocks at once than there are");
    }
  }
}

}  // namespace

std::uint32_t mrt_crc(std::string_view bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::uint32_t mrt_crc(const MrtBlockHead& head, std::string_view payload) {
  const std::string_view numbers(reinterpret_cast<const char*>(&head), offsetof(MrtBlockHead, crc));
  return mrt_crc(payload, mrt_crc(numbers));
}

MrtAbout read_mrt_about(const Input& input) {
  try {
    const std::string_view bytes = about_bytes(input);
    MrtAbout about = parsed(bytes);
    References(about.recording).check();
    const auto about_at = static_cast<std::uint64_t>(bytes.data() - input.bytes.data());
    check_blocks(about, about_at - kMrtFrontBytes);
    about.recording.path = input.name;
    return about;
  } catch (const MrtFault& fault) {
    throw InputError(input.name, "", fault.what());
  }
}

NumberLimits mrt_limits(const Recording& recording, const Trace& trace) {
  return {trace.slot_count, recording.texts.size(), recording.stacks.size()};
}

void decode_mrt_block(std::string_view block, const MrtBlockHead& expected, BlockDecoder& decoder,
                      EventColumns& events) {
  ByteCursor bytes(block);
  const auto head = bytes.plain<MrtBlockHead>();
  const std::string_view payload = bytes.bytes(bytes.left());
  if (head != expected || mrt_crc(head, payload) != head.crc) {
    throw MrtFault("is damaged: its checksum is wrong");
  }
  decoder.decode(payload, head.events, events);
}

std::string mrt_place(std::size_t block) { return "block " + human_count(block); }

}  // namespace memreplay
