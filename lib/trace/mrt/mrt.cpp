#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <system_error>

#include "core/error.hpp"
#include "core/system_calls.hpp"
#include "core/text.hpp"
#include "trace/gate.hpp"
#include "trace/mrt/mrt_format.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kEndBytes = sizeof(MrtEnd);

/// The bytes of what is said about the blocks.
std::string_view about_bytes(const Input& input) {
  const std::string_view bytes = input.bytes;
  if (bytes.size() < kMrtFrontBytes + kEndBytes) throw MrtFault("is cut off");
  const auto version = static_cast<std::uint8_t>(bytes[kMrtMagic.size()]);
  if (version < kOldestMrtVersion || version > kMrtVersion) {
    throw MrtFault(fmt::format("is of version {} of .mrt; expected {} to {}", version,
                               kOldestMrtVersion, kMrtVersion));
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
  if (in.left() > 0) throw MrtFault("has more than it should");
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
    for (const StreamPool& lane : trace.lanes) {
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
                      head.events <= kMrtBlockEvents &&
                      head.events <= kMostEventsAByte * head.bytes;
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

/// The file, which stays open as long as somebody reads in it; not mapped, as pages of it would
/// count as memory of the program. Safe for several threads.
class MrtFile {
 public:
  explicit MrtFile(std::string path)
      : path_(std::move(path)),
        number_(uninterrupted([&] { return ::open(path_.c_str(), O_RDONLY | O_CLOEXEC); })) {
    if (number_ < 0) fail("cannot be opened");
  }
  ~MrtFile() { ::close(number_); }
  MrtFile(const MrtFile&) = delete;
  MrtFile& operator=(const MrtFile&) = delete;

  const std::string& path() const { return path_; }

  void read(std::uint64_t at, std::string& bytes) const {
    for (std::size_t got = 0; got < bytes.size();) {
      const ssize_t count = uninterrupted([&] {
        return ::pread(number_, bytes.data() + got, bytes.size() - got,
                       static_cast<off_t>(at + got));
      });
      if (count < 0) fail("cannot be read");
      if (count == 0) throw InputError(path_, "", "became shorter while it was read");
      got += static_cast<std::size_t>(count);
    }
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw InputError(path_, "", std::string(what) + ": " + std::generic_category().message(errno));
  }

  std::string path_;
  int number_;
};

/// What the streams of one trace share.
struct Source {
  std::shared_ptr<const MrtFile> file;
  std::shared_ptr<const MrtAbout> about;
  std::uint32_t trace;
};

class MrtStream final : public EventStream {
 public:
  MrtStream(const Source& source, ColdColumns wanted)
      : source_(source),
        decoder_(mrt_limits(source.about->recording, trace()), cold_columns(wanted)),
        gate_(trace()) {}

  bool next(EventColumns& events) override {
    const std::vector<MrtBlockHead>& blocks = source_.about->blocks;
    for (; block_ < blocks.size(); ++block_) {
      const MrtBlockHead& head = blocks[block_];
      const std::uint64_t at = at_;
      at_ += sizeof head + head.bytes;
      if (head.trace != source_.trace) continue;
      bytes_.resize(sizeof head + head.bytes);
      source_.file->read(at, bytes_);
      decode(head, events);
      ++block_;
      return true;
    }
    return false;
  }

 private:
  const Trace& trace() const { return source_.about->recording.traces[source_.trace]; }

  void decode(const MrtBlockHead& head, EventColumns& events) {
    try {
      decode_mrt_block(bytes_, head, decoder_, events);
    } catch (const MrtFault& fault) {
      throw InputError(source_.file->path(), mrt_place(block_), fault.what());
    }
    if (const auto fault = gate_.fault_in(events)) {
      throw InputError(source_.file->path(), fault->place, fault->what);
    }
  }

  Source source_;
  BlockDecoder decoder_;
  TraceGate gate_;
  std::size_t block_ = 0;  ///< the next
  std::uint64_t at_ = kMrtFrontBytes;
  std::string bytes_;
};

class MrtEvents final : public StreamedEvents {
 public:
  explicit MrtEvents(Source source) : source_(std::move(source)) {}

  const EventTotals& totals() const override { return source_.about->totals[source_.trace]; }
  std::unique_ptr<EventStream> open(ColdColumns wanted) const override {
    return std::make_unique<MrtStream>(source_, wanted);
  }

 private:
  Source source_;
};

/// Gives every trace of the recording, which `about` is of, its events to be read from the file
/// when they are needed. Throws InputError.
void stream_mrt(const Input& input, const std::shared_ptr<const MrtAbout>& about,
                Recording& recording) {
  const auto file = std::make_shared<const MrtFile>(input.name);
  for (std::uint32_t i = 0; i < recording.traces.size(); ++i) {
    recording.traces[i].streamed = std::make_shared<const MrtEvents>(Source{file, about, i});
  }
}

/// From so many events on it is said that they are all held in memory.
constexpr std::uint64_t kMany = 20'000'000;

/// All events of all traces, in their columns.
void read_events(const Input& input, const MrtAbout& about, Recording& recording) {
  std::deque<BlockDecoder> decoders;
  for (const Trace& trace : recording.traces) {
    decoders.emplace_back(mrt_limits(recording, trace), kEveryColdColumn);
  }
  std::size_t at = kMrtFrontBytes;
  EventColumns events;
  for (std::size_t i = 0; i < about.blocks.size(); ++i) {
    const MrtBlockHead& head = about.blocks[i];
    const std::size_t bytes = sizeof head + head.bytes;
    try {
      decode_mrt_block(input.bytes.substr(at, bytes), head, decoders[head.trace], events);
    } catch (const MrtFault& fault) {
      throw InputError(input.name, mrt_place(i), fault.what());
    }
    append(events, recording.traces[head.trace]);
    at += bytes;
    if (input.progress) {
      input.progress(static_cast<double>(at) / static_cast<double>(input.bytes.size()));
    }
  }
}

/// What nothing but the program's requests and frees decides can be told while they are read.
bool can_stream(const Recording& recording, const Trace& trace, const EventTotals& totals) {
  return !is_torch(recording) && totals.program_alone && trace.coverage.starts_empty &&
         trace.start.segments.empty() && trace.end.segments.empty();
}

bool stays_in_file(const Input& input, const ReadOptions& options, const MrtAbout& about) {
  const Recording& recording = about.recording;
  bool longer = false;
  for (std::size_t i = 0; i < recording.traces.size(); ++i) {
    if (!can_stream(recording, recording.traces[i], about.totals[i])) return false;
    longer |= about.totals[i].events > options.most_in_memory;
  }
  return longer && input.mapped;
}

void note_size(const Input& input, const ReadOptions& options, const MrtAbout& about) {
  constexpr Bytes kHotBytes = 16;
  std::uint64_t events = 0;
  for (const EventTotals& totals : about.totals) events += totals.events;
  if (events < kMany || !options.note) return;
  options.note(
      fmt::format("{}: this question needs the whole trace in memory: {} events, at least {}",
                  input.name, human_count(events), human_size(events * kHotBytes)));
}

Recording read(const Input& input, const ReadOptions& options) {
  auto about = std::make_shared<MrtAbout>(read_mrt_about(input));
  Recording recording = about->recording;
  if (stays_in_file(input, options, *about)) {
    stream_mrt(input, about, recording);
    return recording;
  }
  note_size(input, options, *about);
  read_events(input, *about, recording);
  return recording;
}

}  // namespace

ReaderInfo mrt_reader() {
  return {
      .name = "mrt",
      .summary = "memreplay's own binary format: small, checksummed, for recordings of any length",
      .recognises = [](const Input& input) { return input.bytes.starts_with(kMrtMagic); },
      .read = read};
}

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
