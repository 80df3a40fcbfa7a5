#include "spool/recording.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
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
  // Pages that are being added are of no interest.
  size_ = static_cast<std::size_t>(about.st_size) / kSpoolPageBytes * kSpoolPageBytes;
  void* const bytes =
      size_ == 0 ? MAP_FAILED : ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  if (size_ == 0) throw InputError(path_, "", "is empty: its process could not be recorded");
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
                    is.record_bytes <= kSpoolPageBytes - sizeof(SpoolPageHead);
  const bool ends = std::memchr(is.recorder, 0, sizeof is.recorder) != nullptr &&
                    std::memchr(is.forked_from, 0, sizeof is.forked_from) != nullptr;
  if (is.version != kSpoolVersion || !fits || !ends) {
    throw InputError(path_, "", "a spool of another release; expected one of this program's");
  }
}

SpoolRecords::SpoolRecords(const SpoolFile& spool)
    : spool_(spool), latest_(spool.head().first_order) {
  for (std::size_t page = 0; page < spool.pages(); ++page) {
    if (spool.page(page).thread == 0) continue;
    if (const std::uint64_t order = order_at(page, 0)) {
      unopened_.push_back({order, static_cast<std::uint32_t>(page), 0});
    }
  }
  std::sort(unopened_.begin(), unopened_.end(), std::greater<>());
  find_undone();
}

/// The record before a failure is, on the same thread, that of its call.
void SpoolRecords::find_undone() {
  std::unordered_map<std::uint32_t, std::uint64_t> latest;  // order, by thread
  for (auto page = unopened_.rbegin(); page != unopened_.rend(); ++page) {
    std::uint64_t& before = latest[spool_.page(page->page).thread];
    for (std::size_t number = 0; number < spool_.records_a_page(); ++number) {
      const std::uint64_t order = order_at(page->page, number);
      if (order == 0) break;
      if (call_of(spool_.record(page->page, number)) == Call::kept) undone_.insert(before);
      before = order;
    }
  }
}

std::uint64_t SpoolRecords::order_at(std::size_t page, std::size_t number) const {
  auto& order = const_cast<std::uint64_t&>(spool_.record(page, number).order);
  return std::atomic_ref(order).load(std::memory_order_acquire);
}

/// To the next record of the same page.
bool SpoolRecords::advance() {
  if (++at_.number == spool_.records_a_page()) return false;
  at_.order = order_at(at_.page, at_.number);
  return at_.order > latest_;
}

const Record* SpoolRecords::next() {
  const Record* record = next_written();
  while (record != nullptr && undone_.contains(record->order)) record = next_written();
  return record;
}

const Record* SpoolRecords::next_written() {
  if (has_more_ && advance()) {
    open_.push(at_);
  }
  while (!unopened_.empty() && (open_.empty() || unopened_.back().order < open_.top().order)) {
    open_.push(unopened_.back());
    unopened_.pop_back();
  }
  has_more_ = !open_.empty();
  if (!has_more_) return nullptr;
  at_ = open_.top();
  open_.pop();
  latest_ = at_.order;
  ++given_;
  return &spool_.record(at_.page, at_.number);
}

}  // namespace memreplay::capture
