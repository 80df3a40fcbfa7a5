#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/text.hpp"
#include "trace/csv/csv.hpp"
#include "trace/csv_rows.hpp"
#include "trace/log_lines.hpp"
#include "trace/log_reading.hpp"
#include "trace/pointer_log.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

enum RmmColumn : std::size_t {
  kRmmAction,
  kRmmPointer,
  kRmmSize,
  kRmmStream,
  kRmmTime,
  kRmmThread,
  kRmmDevice,
  kRmmColumns
};

/// Where each column stands; of either layout.
struct RmmHeader {
  std::array<std::optional<std::size_t>, kRmmColumns> places;
  std::size_t columns = 0;
  bool is_old =
      false;  ///< "Event Type,Device ID,Address,…": seconds, and a row may be of any device
  bool has_others = false;  ///< columns that neither layout has

  bool has(RmmColumn column) const { return places[column].has_value(); }
};

/// The fields of a row as they are written; those that the header does not have are empty.
class RmmRow {
 public:
  /// False where there are fewer fields than columns.
  bool cut(std::string_view line, const RmmHeader& header);
  std::string_view operator[](RmmColumn column) const { return fields_[column]; }

 private:
  std::array<std::string_view, kRmmColumns> fields_;
};

struct RmmName {
  std::string_view name;
  RmmColumn column;
  bool is_old;
};

constexpr RmmName kRmmNames[] = {
    {"Thread", kRmmThread, false},    {"Time", kRmmTime, false},
    {"Action", kRmmAction, false},    {"Pointer", kRmmPointer, false},
    {"Size", kRmmSize, false},        {"Stream", kRmmStream, false},
    {"Event Type", kRmmAction, true}, {"Device ID", kRmmDevice, true},
    {"Address", kRmmPointer, true},   {"Stream", kRmmStream, true},
    {"Size (bytes)", kRmmSize, true}, {"Start", kRmmTime, true},
};

std::string_view take_field(std::string_view& rest) {
  const std::string_view field = rest.substr(0, rest.find(','));
  rest.remove_prefix(std::min(field.size() + 1, rest.size()));
  return field;
}

std::optional<RmmHeader> parse_layout(std::string_view line, bool is_old) {
  RmmHeader header{.is_old = is_old};
  while (!line.empty()) {
    const std::string_view name = trimmed(take_field(line));
    const auto* known = std::ranges::find_if(
        kRmmNames, [&](const RmmName& n) { return n.is_old == is_old && n.name == name; });
    const std::size_t place = header.columns++;
    if (known == std::end(kRmmNames)) {
      header.has_others = true;
    } else if (header.has(known->column)) {
      return std::nullopt;
    } else {
      header.places[known->column] = place;
    }
  }
  const bool whole = header.has(kRmmAction) && header.has(kRmmPointer) && header.has(kRmmSize) &&
                     header.has(kRmmStream) && header.has(is_old ? kRmmDevice : kRmmTime);
  return whole ? std::optional(header) : std::nullopt;
}

/// All of the text, which has no sign.
std::optional<std::int64_t> two_digits(std::string_view text) {
  if (text.size() != 2 || text[0] < '0' || text[0] > '9' || text[1] < '0' || text[1] > '9') {
    return std::nullopt;
  }
  return (text[0] - '0') * 10 + (text[1] - '0');
}

/// Unset where a needed column is missing, or one is there twice.
std::optional<RmmHeader> parse_rmm_header(std::string_view line) {
  if (auto header = parse_layout(line, false)) return header;
  return parse_layout(line, true);
}

bool RmmRow::cut(std::string_view line, const RmmHeader& header) {
  constexpr std::size_t kMostColumns = 32;
  std::array<std::string_view, kMostColumns> fields;
  std::size_t count = 0;
  for (bool more = true; more && count < kMostColumns; ++count) {
    more = line.find(',') != line.npos;
    fields[count] = take_field(line);
  }
  if (count < header.columns) return false;
  for (std::size_t column = 0; column < kRmmColumns; ++column) {
    const auto place = header.places[column];
    fields_[column] = place ? trimmed(fields[*place]) : std::string_view();
  }
  return true;
}

/// Microseconds of "09:15:02.000101" since midnight, also with a colon before the fraction.
std::optional<std::int64_t> parse_rmm_clock(std::string_view text) {
  constexpr std::size_t kClock = std::string_view("09:15:02").size();
  if (text.size() < kClock || text[2] != ':' || text[5] != ':') return std::nullopt;
  const auto hours = two_digits(text.substr(0, 2));
  const auto minutes = two_digits(text.substr(3, 2));
  const auto seconds = two_digits(text.substr(6, 2));
  if (!hours || !minutes || !seconds || *hours > 23 || *minutes > 59 || *seconds > 60) {
    return std::nullopt;
  }
  std::int64_t us = 0;
  std::int64_t unit = 1'000'000;
  std::string_view fraction = text.substr(kClock);
  if (!fraction.empty() && fraction.front() != '.' && fraction.front() != ':') return std::nullopt;
  for (const char c : fraction.substr(std::min<std::size_t>(fraction.size(), 1))) {
    if (c < '0' || c > '9') return std::nullopt;
    unit /= 10;
    us += (c - '0') * unit;
  }
  return ((*hours * 60 + *minutes) * 60 + *seconds) * 1'000'000 + us;
}

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
      return log_.lacks("blocks that moved, without their old address in the log");
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

bool is_log_of_rmm(const Input& input) {
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

/// The CSV log of the RAPIDS Memory Manager, one file a device. Requests that failed are in it; of
/// the per-thread default stream each thread has its own.
ReaderInfo rmm_reader() {
  return {
      .name = "rmm",
      .summary = "The log of the RAPIDS Memory Manager: Thread,Time,Action,Pointer,Size,Stream.",
      .recognises = is_log_of_rmm,
      .read = [](const Input& input, const ReadOptions&) { return read_log<RmmReader>(input); },
      .hand_on = [](const Input& input, const ReadOptions&,
                    const BeginEvents& begin) { return read_log<RmmReader>(input, begin); },
      .stream = [](const Input& input, const ReadOptions&,
                   const BeginEvents& begin) { return stream_log<RmmReader>(input, begin); }};
}

}  // namespace memreplay
