#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <system_error>

#include "core/error.hpp"
#include "core/system_calls.hpp"
#include "core/text.hpp"
#include "trace/gate.hpp"
#include "trace/mrt/mrt_file.hpp"
#include "trace/mrt/mrt_format.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

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
  options.note(fmt::format(
      "{}: what is asked needs the whole trace: {} events are held in memory, {} at least",
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
      .summary = "memreplay's own binary form of any recording: small, checked, as long as may be",
      .recognises = [](const Input& input) { return input.bytes.starts_with(kMrtMagic); },
      .read = read};
}

}  // namespace memreplay
