#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <queue>
#include <string>
#include <unordered_set>
#include <vector>

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
  std::size_t pages() const { return size_ / kSpoolPageBytes - 1; }
  const SpoolPageHead& page(std::size_t number) const {
    return *reinterpret_cast<const SpoolPageHead*>(bytes_ + (number + 1) * kSpoolPageBytes);
  }
  std::size_t records_a_page() const {
    return (kSpoolPageBytes - sizeof(SpoolPageHead)) / head().record_bytes;
  }
  const Record& record(std::size_t page_number, std::size_t number) const {
    const auto* const first = reinterpret_cast<const std::byte*>(&page(page_number) + 1);
    return *reinterpret_cast<const Record*>(first + number * head().record_bytes);
  }

 private:
  void check() const;

  std::string path_;
  const std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;
};

/// The records of all threads of a spool, in their order, without those of a free or reallocation
/// that failed: such a block stays, and the record of the failure alone is given. Holds 16 bytes a
/// page.
class SpoolRecords {
 public:
  explicit SpoolRecords(const SpoolFile& spool);

  /// Null after the last one.
  const Record* next();
  /// Who made the record that was given last.
  std::uint32_t thread() const { return spool_.page(at_.page).thread; }
  /// Orders so far that no record has: threads were on their way when the process was killed.
  std::uint64_t missing() const { return latest_ - spool_.head().first_order - given_; }

 private:
  struct Place {
    std::uint64_t order = 0;  ///< order of the record there
    std::uint32_t page = 0;
    std::uint32_t number = 0;

    friend bool operator>(const Place& a, const Place& b) { return a.order > b.order; }
  };

  void find_undone();
  const Record* next_written();
  bool advance();
  std::uint64_t order_at(std::size_t page, std::size_t number) const;

  const SpoolFile& spool_;
  std::unordered_set<std::uint64_t> undone_;  ///< orders of calls that a later record takes back
  std::vector<Place> unopened_;  ///< pages, by the order of their first record, latest first
  std::priority_queue<Place, std::vector<Place>, std::greater<>> open_;
  Place at_;
  bool has_more_ = false;  ///< in the page of `at_`
  std::uint64_t latest_;
  std::uint64_t given_ = 0;
};

}  // namespace memreplay::capture
