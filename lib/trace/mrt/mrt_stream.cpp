#include "trace/mrt/mrt_stream.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <system_error>

#include "core/error.hpp"
#include "core/uninterrupted.hpp"
#include "trace/gate.hpp"
#include "trace/mrt/mrt_file.hpp"

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

}  // namespace

void stream_mrt(const Input& input, const std::shared_ptr<const MrtAbout>& about,
                Recording& recording) {
  const auto file = std::make_shared<const MrtFile>(input.name);
  for (std::uint32_t i = 0; i < recording.traces.size(); ++i) {
    recording.traces[i].streamed = std::make_shared<const MrtEvents>(Source{file, about, i});
  }
}

}  // namespace memreplay
