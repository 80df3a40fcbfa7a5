#include "trace/rmm/rmm.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/text.hpp"
#include "trace/csv/csv_rows.hpp"
#include "trace/csv/csv_time.hpp"
#include "trace/device_in_name.hpp"
#include "trace/log_lines.hpp"
#include "trace/log_reading.hpp"
#include "trace/pointer_log.hpp"
#include "trace/rmm/rmm_row.hpp"

namespace memreplay {
namespace {

enum class RmmAction { allocate, free, fail, reallocate };

std::optional<RmmAction> rmm_action(std::string_view word) {
  if (word == "allocate" || word == "Alloc") return RmmAction::allocate;
  if (word == "free" || word == "Free") return RmmAction::free;
  if (word == "allocate failure") return RmmAction::fail;
  if (word == "Realloc") return RmmAction::reallocate;
  return std::nullopt;
}

/// The header of a log, and the line after which its rows begin.
std::optional<RmmHeader> find_header(LogLines& lines) {
  while (lines.next()) {
    if (!lines.line().empty()) return parse_rmm_header(lines.line());
  }
  return std::nullopt;
}

class RmmReader {
 public:
  RmmReader(const Input& input, const BeginEvents& begin, const EarlierPointers& earlier)
      : lines_(input),
        log_(device_in_name(input.name), input.name, begin),
        recording_(recording_of_log(input, "rmm", "RMM log")) {
    recording_.lacks = {"alignments"};
    log_.tell_places([this] { return lines_.place(); });
    log_.expect(lines_.about(), &Trace::times_us, &Trace::threads);
    log_.begin_with(earlier);
  }

  /// False where events are to leave and there are none.
  bool read_all() {
    read_header();
    read_lines(
        lines_, log_.trace().coverage, [this] { read_row(); }, [this] { log_.is_filled(); });
    return log_.finish(recording_);
  }
  EarlierPointers earlier() const { return log_.earlier(); }
  Recording take() { return std::move(recording_); }

 private:
  void read_header();
  void read_row();
  bool is_of_this_device();
  void call(RmmAction action);
  Address pointer() const;
  std::uint64_t stream();
  std::uint32_t thread() const;
  std::int64_t time_us();

  LogLines lines_;
  PointerLog log_;
  Recording recording_;
  RmmHeader header_;
  RmmRow row_;
  std::optional<int> device_;                  ///< in the old layout: its first row's
  std::optional<std::uint32_t> first_thread_;  ///< with a default stream of its own
  std::int64_t latest_us_ = 0;
  std::int64_t midnight_us_ = 0;  ///< the last one that was passed
};

void RmmReader::read_header() {
  const auto header = find_header(lines_);
  if (!header) {
    lines_.bad("the header", lines_.line(), "Thread,Time,Action,Pointer,Size,Stream in any order");
  }
  header_ = *header;
  if (!header_.has(kRmmThread)) recording_.lacks.emplace_back("threads");
  if (header_.is_old) recording_.lacks.emplace_back("requests that failed");
}

void RmmReader::read_row() {
  if (!row_.cut(lines_.line(), header_)) {
    lines_.bad("a row", lines_.line(),
               fmt::format("{} fields, as the header has", header_.columns));
  }
  const auto action = rmm_action(row_[kRmmAction]);
  if (!action) lines_.bad("an action", row_[kRmmAction], "allocate, free or allocate failure");
  const std::int64_t time_us = header_.has(kRmmTime) ? this->time_us() : 0;
  const std::uint32_t thread = header_.has(kRmmThread) ? this->thread() : 0;
  if (!is_of_this_device()) return log_.leave_out("rows of other devices");
  call(*action);
  if (header_.has(kRmmTime)) log_.fill<&Trace::times_us>(time_us);
  if (header_.has(kRmmThread)) log_.fill<&Trace::threads>(thread);
}

bool RmmReader::is_of_this_device() {
  if (!header_.is_old) return true;
  const auto device = parse_whole(row_[kRmmDevice]);
  if (!device || *device >= kMostDevices) {
    lines_.bad("a device", row_[kRmmDevice], "the number of a device");
  }
  if (!device_) device_ = log_.trace().gpu = static_cast<int>(*device);
  return *device_ == static_cast<int>(*device);
}

void RmmReader::call(RmmAction action) {
  const PointerPlace place{.stream = stream()};
  switch (action) {
    case RmmAction::allocate:
      return log_.allocate(place, pointer(), lines_.size(row_[kRmmSize]));
    case RmmAction::free:
      return log_.free(
          place, pointer(),
          row_[kRmmSize].empty() ? std::optional<Bytes>() : lines_.size(row_[kRmmSize]));
    case RmmAction::fail:
      return log_.refuse(place, lines_.size(row_[kRmmSize]));
    case RmmAction::reallocate:
      return log_.lacks("blocks that moved, of which the log says only where to");
  }
}

Address RmmReader::pointer() const {
  return row_[kRmmPointer].empty() ? 0 : lines_.address(row_[kRmmPointer]);
}

/// A handle, as hexadecimal digits. 0x1 names the default stream, too, and 0x2 that of the thread,
/// a handle that the first such thread keeps.
std::uint64_t RmmReader::stream() {
  constexpr std::uint64_t kLegacy = 1, kOfTheThread = 2, kAmongThreads = std::uint64_t{1} << 63;
  const std::string_view text = row_[kRmmStream];
  if (text.empty() || text == "0") return 0;
  if (!text.starts_with("0x")) lines_.bad("a stream", text, "0, or 0x and hexadecimal digits");
  const std::uint64_t handle = lines_.hexadecimal("a stream", text.substr(2));
  if (handle == kLegacy) return 0;
  if (handle != kOfTheThread || !header_.has(kRmmThread)) return handle;
  const std::uint32_t thread = this->thread();
  if (!first_thread_) first_thread_ = thread;
  return thread == *first_thread_ ? handle : kAmongThreads | thread;
}

std::uint32_t RmmReader::thread() const {
  const auto thread = parse_whole(row_[kRmmThread]);
  if (!thread || *thread > std::numeric_limits<std::uint32_t>::max()) {
    lines_.bad("a thread", row_[kRmmThread], "a whole number below 2^32");
  }
  return static_cast<std::uint32_t>(*thread);
}

std::int64_t RmmReader::time_us() {
  constexpr std::int64_t kHalfADay = std::int64_t{12} * 3600 * 1'000'000;
  const std::string_view text = row_[kRmmTime];
  const auto clock = header_.is_old ? std::nullopt : parse_rmm_clock(text);
  if (!clock) {
    const auto time = parse_csv_time(text, CsvTimeUnit::s);
    if (!time) lines_.bad("a time", text, "a clock such as 09:15:02.000101, or seconds");
    return time->us;
  }
  if (midnight_us_ + *clock < latest_us_ - kHalfADay) midnight_us_ += 2 * kHalfADay;
  return latest_us_ = midnight_us_ + *clock;
}

}  // namespace

bool is_rmm(const Input& input) {
  constexpr std::size_t kLongestBeginning = 8000;
  const Input beginning{input.name, input.bytes.substr(0, kLongestBeginning)};
  LogLines lines(beginning);
  const auto header = find_header(lines);
  if (!header || (header->has_others && !header->is_old)) return false;
  RmmRow row;
  if (!lines.next() || !lines.is_whole() || lines.line().empty()) return true;
  const std::string_view pointer = row.cut(lines.line(), *header) ? row[kRmmPointer] : "?";
  const bool is_pointer =
      pointer.starts_with("0x") || pointer == "(nil)" || pointer == "0" || pointer.empty();
  return is_pointer && rmm_action(row[kRmmAction]);
}

ReaderInfo rmm_reader() {
  return {
      .name = "rmm",
      .summary = "The log of the RAPIDS Memory Manager: Thread,Time,Action,Pointer,Size,Stream.",
      .recognises = is_rmm,
      .read = [](const Input& input, const ReadOptions&) { return read_log<RmmReader>(input); },
      .hand_on = [](const Input& input, const ReadOptions&,
                    const BeginEvents& begin) { return read_log<RmmReader>(input, begin); },
      .stream = [](const Input& input, const ReadOptions&,
                   const BeginEvents& begin) { return stream_log<RmmReader>(input, begin); }};
}

}  // namespace memreplay
