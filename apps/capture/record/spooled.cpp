#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <string_view>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/error.hpp"
#include "cuda/cuda_recording.hpp"
#include "malloc/malloc_recording.hpp"
#include "spool/recording.hpp"

namespace memreplay::capture {
namespace {

/// Arguments, each ends in a 0.
std::vector<std::string> arguments(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty() && text.front() != '\0') {
    const std::size_t end = std::min(text.find('\0'), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

/// The process with its number that has it mapped; another may have the number now.
bool is_running(const std::string& path, const SpoolHead& head,
                const std::vector<RunningProcess>& running) {
  struct stat file {};
  if (head.stopped_by != 0 || ::stat(path.c_str(), &file) != 0) return false;
  return std::ranges::any_of(running, [&](const RunningProcess& one) {
    return one.own_number == head.process && one.spools.contains(file.st_ino);
  });
}

SpooledProcess about(const std::string& path, const std::vector<RunningProcess>& running) {
  const SpoolFile spool(path);
  const SpoolHead& head = spool.head();
  return {.spool = path,
          .recorder = head.recorder,
          .process = head.process,
          .is_forked = head.forked_from[0] != '\0',
          .command = arguments({head.command, sizeof head.command}),
          .begun_unix_ns = head.begun_unix_ns,
          .is_running = is_running(path, head, running)};
}

/// A process that just began has made its spool, "PID.malloc.spool", and written no head.
bool just_began(const std::filesystem::path& spool, const std::vector<RunningProcess>& running) {
  const std::string name = spool.filename().string();
  return std::ranges::any_of(running, [&](const RunningProcess& one) {
    return name.starts_with(std::to_string(one.own_number) + '.');
  });
}

/// Puts the events back into their traces.
class Kept final : public EventSink {
 public:
  void add(std::size_t trace, const EventColumns& events) override {
    if (events_.size() <= trace) events_.resize(trace + 1);
    append(events, events_[trace]);
  }
  void finish(const Recording& recording) override {
    recording_ = recording;
    events_.resize(recording_.traces.size());
    for (std::size_t i = 0; i < events_.size(); ++i) {
      static_cast<EventColumns&>(recording_.traces[i]) = std::move(events_[i]);
    }
  }
  Recording take() { return std::move(recording_); }

 private:
  std::vector<EventColumns> events_;
  Recording recording_;
};

}  // namespace

SpooledProcesses processes_in(const std::filesystem::path& folder) {
  SpooledProcesses found{.running = running_in(folder)};
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (entry.path().extension() != kSpoolSuffix) continue;
    try {
      found.processes.push_back(about(entry.path().string(), found.running));
    } catch (const InputError& error) {
      if (!just_began(entry.path(), found.running)) found.unreadable.emplace_back(error.what());
    }
  }
  if (failed) throw InputError(folder.string(), "", "cannot be read: " + failed.message());
  std::ranges::sort(found.processes, {}, [](const SpooledProcess& one) {
    return std::tie(one.begun_unix_ns, one.spool);
  });
  std::ranges::sort(found.unreadable);
  return found;
}

SpoolSummary stream_recording(const SpooledProcess& process, EventSink& sink) {
  if (process.recorder == "malloc") return stream_malloc(process, sink);
  if (process.recorder == "cuda") return stream_cuda(process, sink);
  throw InputError(process.spool, "",
                   "a spool of '" + process.recorder + "'; expected malloc or cuda");
}

Recording recording_of(const SpooledProcess& process) {
  Recording out;
  out.path = process.spool;
  out.format = process.recorder;
  out.detail = "calls of " + process.recorder + " by " +
               (process.command.empty() ? "?" : process.command.front());
  out.texts = {""};
  out.stacks = {{}};
  return out;
}

Recording read_recording(const SpooledProcess& process, SpoolSummary& summary) {
  Kept kept;
  summary = stream_recording(process, kept);
  return kept.take();
}

SpoolFile::SpoolFile(std::string path) : path_(std::move(path)) {
  const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat about {};
  if (file < 0 || ::fstat(file, &about) != 0) {
    const int error = errno;
    if (file >= 0) ::close(file);
    throw InputError(path_, "", std::string("cannot be read: ") + std::strerror(error));
  }
  size_ = static_cast<std::size_t>(about.st_size);
  const bool has_head = size_ >= kSpoolPageBytes;
  void* const bytes =
      has_head ? ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
  ::close(file);
  if (!has_head) throw InputError(path_, "", "is empty: its process could not be recorded");
  if (bytes == MAP_FAILED) throw InputError(path_, "", "cannot be mapped; expected a spool");
  bytes_ = static_cast<const std::byte*>(bytes);
  try {
    check();
  } catch (...) {
    ::munmap(bytes, size_);
    throw;
  }
}

SpoolFile::~SpoolFile() { ::munmap(const_cast<std::byte*>(bytes_), size_); }

void SpoolFile::check() const {
  const SpoolHead& is = head();
  if (std::memcmp(is.magic, kSpoolMagic, sizeof is.magic) != 0) {
    throw InputError(path_, "", "no spool; expected what a preloaded recorder wrote");
  }
  const bool fits = is.record_bytes >= sizeof(Record) && is.record_bytes % alignof(Record) == 0 &&
                    is.record_bytes <= kMostRecordBytes;
  const bool ends = std::memchr(is.recorder, 0, sizeof is.recorder) != nullptr &&
                    std::memchr(is.forked_from, 0, sizeof is.forked_from) != nullptr;
  if (is.version != kSpoolVersion || !fits || !ends) {
    throw InputError(path_, "", "a spool of another release; expected one of this program's");
  }
}

SpoolRecords::SpoolRecords(const SpoolFile& spool) : spool_(spool) {
  find_pages();
  look_through();
}

/// Pages are given one after the other, so that none before a used one was not used.
void SpoolRecords::find_pages() {
  std::uint64_t unused = 0;
  for (std::size_t page = 0; page < spool_.pages(); ++page) {
    if (spool_.page(page).thread == 0) {
      ++unused;
      continue;
    }
    missing_ += std::exchange(unused, 0);
    unopened_.push_back({spool_.page(page).order, static_cast<std::uint32_t>(page)});
  }
  std::ranges::sort(unopened_, std::greater<>(),
                    [](const Page& page) { return std::pair(page.order, page.number); });
}

/// What later calls take back, what is missing, and how long an order takes. The call before a
/// failure is, on the same thread, that which failed.
void SpoolRecords::look_through() {
  std::unordered_map<std::uint32_t, std::uint64_t> latest;  // place, by thread
  std::uint64_t last_order = 0;
  std::int64_t last_ns = 0;
  for (auto next = unopened_.rbegin(); next != unopened_.rend(); ++next) {
    OpenPage page{next->number, spool_.calls_of(next->number, 0)};
    std::uint64_t& before = latest[spool_.page(next->number).thread];
    while (page.reader.next(page.call)) {
      if (call_of(page.record()) == Call::kept) undone_.insert(before);
      before = page.place();
    }
    missing_ += page.reader.is_torn();
    if (page.reader.timed_order() > last_order) {
      last_order = page.reader.timed_order();
      last_ns = page.reader.time_ns();
    }
  }
  const SpoolHead& head = spool_.head();
  const double ns = static_cast<double>(last_ns) - static_cast<double>(head.begun_ns);
  if (last_order > head.begun_order && ns > 0) {
    ns_per_order_ = ns / static_cast<double>(last_order - head.begun_order);
  }
}

bool SpoolRecords::is_after(const std::unique_ptr<OpenPage>& a,
                            const std::unique_ptr<OpenPage>& b) {
  return std::pair(a->record().order, a->page) > std::pair(b->record().order, b->page);
}

void SpoolRecords::open(std::uint32_t page) {
  auto opened = std::make_unique<OpenPage>(OpenPage{page, spool_.calls_of(page, ns_per_order_)});
  if (!opened->reader.next(opened->call)) return;
  open_.push_back(std::move(opened));
  std::ranges::push_heap(open_, is_after);
}

const Record* SpoolRecords::next() {
  while (advance()) {
    if (!undone_.contains(at_->place())) return &at_->record();
  }
  return nullptr;
}

/// To the next call of any thread.
bool SpoolRecords::advance() {
  if (at_ != nullptr && at_->reader.next(at_->call)) {
    open_.push_back(std::move(at_));
    std::ranges::push_heap(open_, is_after);
  }
  while (!unopened_.empty() &&
         (open_.empty() || unopened_.back().order <= open_.front()->record().order)) {
    const std::uint32_t page = unopened_.back().number;
    unopened_.pop_back();
    open(page);
  }
  if (open_.empty()) return at_ = nullptr, false;
  std::ranges::pop_heap(open_, is_after);
  at_ = std::move(open_.back());
  open_.pop_back();
  return true;
}

}  // namespace memreplay::capture
