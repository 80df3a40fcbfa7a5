#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "spool/page_reader.hpp"
#include "spool/running.hpp"
#include "spool/spool_format.hpp"
#include "trace/event_sink.hpp"
#include "trace/trace.hpp"

namespace memreplay::capture {

/// What a spool says of the process that wrote it.
struct SpooledProcess {
  std::string spool;     ///< path
  std::string recorder;  ///< "malloc", "cuda"
  std::uint32_t process = 0;
  bool is_forked = false;  ///< it had the memory of another from the start
  std::vector<std::string> command;
  std::int64_t begun_unix_ns = 0;
  bool is_running = false;  ///< it may write more
};

struct SpooledProcesses {
  std::vector<SpooledProcess> processes;  ///< by the time when they began
  std::vector<RunningProcess> running;    ///< these of them, and those that wrote nothing yet
  std::vector<std::string> unreadable;    ///< "PATH: why", of spools that are none
};

/// Every spool in a folder is read. Throws InputError where the folder cannot be read.
SpooledProcesses processes_in(const std::filesystem::path& folder);

/// What a recorded process did, for people.
struct SpoolSummary {
  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
  std::uint64_t refused = 0;        ///< requests that got nothing
  std::uint64_t unknown_frees = 0;  ///< frees of blocks from before the recording
  std::uint64_t inherited = 0;      ///< blocks from before the fork
  std::uint64_t live_blocks = 0;    ///< at the end
  Bytes live_bytes = 0;
  std::uint64_t peak_bytes = 0;        ///< most live at once, as requested
  std::uint64_t missing = 0;           ///< calls under way when the process was killed
  std::uint64_t unrecorded_forks = 0;  ///< processes forked from this one, without a recording
  int stopped_by = 0;       ///< the system's error that ended the recording early; 0: none
  bool is_running = false;  ///< its process may write more

  bool is_complete() const { return missing == 0 && stopped_by == 0 && !is_running; }
};

/// Hands the events of a process on as they are read: memory is that of its live blocks. The blocks
/// that a forked process had from the start are told by the spool of the other one, beside its own.
/// Throws InputError.
SpoolSummary stream_recording(const SpooledProcess& process, EventSink& sink);

/// Reads it with all events in its traces.
Recording read_recording(const SpooledProcess& process, SpoolSummary& summary);

/// What is said about a process's recording, without traces.
Recording recording_of(const SpooledProcess& process);

/// A spool, mapped; its process may still be writing.
class SpoolFile {
 public:
  /// Throws InputError where there is none, or it is none.
  explicit SpoolFile(std::string path);
  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  const std::string& path() const { return path_; }
  const SpoolHead& head() const { return *reinterpret_cast<const SpoolHead*>(bytes_); }
  std::size_t pages() const { return (size_ - 1) / kSpoolPageBytes; }
  const SpoolPageHead& page(std::size_t number) const {
    return *reinterpret_cast<const SpoolPageHead*>(bytes_ + place_of(number));
  }
  PageReader calls_of(std::size_t page_number, double ns_per_order) const {
    const std::size_t place = place_of(page_number);
    return {bytes_ + place, std::min(kSpoolPageBytes, size_ - place), head().record_bytes,
            ns_per_order};
  }

 private:
  static std::size_t place_of(std::size_t page_number) {
    return (page_number + 1) * kSpoolPageBytes;
  }
  void check() const;

  std::string path_;
  const std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;
};

/// The calls of all threads of a spool, in their order, without those of a free or reallocation
/// that failed: such a block stays, and the record of the failure alone is given. Holds 16 bytes a
/// page.
class SpoolRecords {
 public:
  explicit SpoolRecords(const SpoolFile& spool);

  /// Null after the last one; it holds until the next.
  const Record* next();
  /// Who made the call that was given last.
  std::uint32_t thread() const { return spool_.page(at_->page).thread; }
  /// Calls that were being written when the process was killed, and pages that are lost.
  std::uint64_t missing() const { return missing_; }

 private:
  struct Page {
    std::uint64_t order = 0;  ///< before its first call
    std::uint32_t number = 0;
  };
  /// A page, before one of its calls.
  struct OpenPage {
    std::uint32_t page;
    PageReader reader;
    alignas(Record) std::byte call[kMostRecordBytes] = {};

    const Record& record() const { return *reinterpret_cast<const Record*>(call); }
    std::uint64_t place() const { return std::uint64_t{page} * kSpoolPageBytes + reader.place(); }
  };

  void find_pages();
  void look_through();
  void open(std::uint32_t page);
  bool advance();
  static bool is_after(const std::unique_ptr<OpenPage>& a, const std::unique_ptr<OpenPage>& b);

  const SpoolFile& spool_;
  double ns_per_order_ = 0;
  std::unordered_set<std::uint64_t> undone_;     ///< places of calls that a later one takes back
  std::vector<Page> unopened_;                   ///< latest first
  std::vector<std::unique_ptr<OpenPage>> open_;  ///< a heap, the earliest on top
  std::unique_ptr<OpenPage> at_;
  std::uint64_t missing_ = 0;
};

}  // namespace memreplay::capture
