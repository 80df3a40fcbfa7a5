#include "trace/csv/csv.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "trace/csv/csv_columns.hpp"
#include "trace/csv/csv_fields.hpp"
#include "trace/csv_rows.hpp"
#include "trace/event_outlet.hpp"
#include "trace/log_reading.hpp"
#include "trace/pages.hpp"
#include "trace/text_numbers.hpp"
#include "trace/trace_builder.hpp"

namespace memreplay {
namespace {

/// What a row says, before anything is known of other rows.
struct Row {
  char op = 0;
  std::optional<std::uint64_t> id;
  std::optional<Bytes> size;
  std::optional<std::uint64_t> stream;
  std::optional<PoolId> pool;
  std::optional<std::uint32_t> thread;
  std::uint8_t align_log2 = 0;

  /// As new, which is quicker than to make one.
  void clear() {
    id.reset();
    size.reset();
    stream.reset();
    pool.reset();
    thread.reset();
    align_log2 = 0;
  }
};

constexpr std::int64_t kMicrosecondsPerSecond = 1'000'000;

/// Thrown where events cannot leave as they are read: the file must be read whole.
struct MustBeWhole {};

/// The times of a column whose name does not say the unit are of one kind each.
enum class TimesSoFar { none, whole, seconds, clock };

class CsvReader {
 public:
  CsvReader(const Input& input, const ReadOptions& options, const BeginEvents& begin)
      : input_(input),
        options_(options),
        fields_(input.name, input.bytes, options.columns),
        behind_(input),
        rows_(about_lines(input.bytes)),
        outlet_(input.name, begin) {
    recording_.path = input.name;
    recording_.format = "csv";
    recording_.detail = "CSV";
    recording_.texts = {""};
    recording_.stacks = {{}};
  }

  /// False where events are to leave and there are none. Throws MustBeWhole where they are to, and
  /// can_stream_csv does not hold.
  bool read_all() {
    const bool undecided = fields_.has(kTime) && is_undecided(fields_.header().time);
    if (undecided && outlet_.is_open()) throw MustBeWhole();
    while (next_row()) {
      behind_.passed(fields_.rest());
      outlet_.filled(latest_->second.builder);
    }
    if (latest_ != nullptr) outlet_.close(latest_->second.builder);
    if (outlet_.is_open() && !outlet_.is_used()) return false;
    note_all();
    for (auto& [gpu, device] : devices_) {
      device.number_slots();
      recording_.traces.push_back(device.builder.finish());
    }
    outlet_.finish(recording_);
    return true;
  }
  Recording take() { return std::move(recording_); }

 private:
  CsvDevice& device_of(int gpu);
  void reserve(TraceBuilder& builder);
  bool next_row();
  bool read_short_row();
  void read_row();
  int gpu() const;
  void leave_out(CsvDevice& device, const char* reason) {
    device.builder.trace().coverage.leave_out(reason, [this] { return fields_.place(); });
  }
  std::uint16_t lane_of(CsvDevice& device, const Row& row, const CsvBuffer* freed);
  void add_event(CsvDevice& device, Row& row);
  void add_free(CsvDevice& device, const Row& row, std::uint16_t lane, CsvBuffer* known);
  void add_cold_columns(TraceBuilder& events, const Row& row);

  std::int64_t time_us();
  std::int64_t undecided_us(const CsvTime& time);
  void times_are_seconds();
  void note_all();
  void note_times() const;
  void note_left_out();
  void note(std::string_view what) const {
    if (options_.note) options_.note(fmt::format("{}: {}", recording_.path, what));
  }
  std::string_view id_text() const { return trimmed(fields_.text(kId)); }

  const Input& input_;
  const ReadOptions& options_;
  CsvFields fields_;
  PagesBehind behind_;
  std::size_t rows_;  ///< about as many, rather more
  Row row_;
  TimesSoFar times_ = TimesSoFar::none;
  std::map<int, CsvDevice> devices_;
  std::pair<const int, CsvDevice>* latest_ = nullptr;  ///< entry of `devices_` used last
  Recording recording_;
  TextNumbers tags_{recording_.texts};
  EventOutlet outlet_;
};

std::int64_t CsvReader::time_us() {
  const CsvTimeUnit unit = fields_.header().time;
  const std::string_view field = fields_.text(kTime);
  if (field.empty()) return 0;
  auto time = parse_csv_time(field, unit);
  if (!time) time = parse_csv_time(trimmed(field), unit);
  if (!time) fields_.bad(kTime, expected_time(unit));
  return is_undecided(unit) ? undecided_us(*time) : time->us;
}

std::int64_t CsvReader::undecided_us(const CsvTime& time) {
  const bool whole = time.shows == CsvTimeUnit::undecided;
  const bool seconds = time.shows == CsvTimeUnit::s;
  if (seconds && times_ == TimesSoFar::whole) times_are_seconds();
  if (times_ == TimesSoFar::none) {
    times_ = whole ? TimesSoFar::whole : seconds ? TimesSoFar::seconds : TimesSoFar::clock;
  }
  const bool is_clock = !whole && !seconds;
  if (is_clock != (times_ == TimesSoFar::clock)) fields_.bad(kTime, "times of one kind");
  std::int64_t us = time.us;
  if (whole && times_ == TimesSoFar::seconds &&
      __builtin_mul_overflow(us, kMicrosecondsPerSecond, &us)) {
    fields_.bad(kTime, "seconds");
  }
  return us;
}

void CsvReader::times_are_seconds() {
  for (auto& [gpu, device] : devices_) {
    for (std::int64_t& us : device.builder.trace().times_us) {
      if (__builtin_mul_overflow(us, kMicrosecondsPerSecond, &us)) {
        fields_.bad(kTime, "whole microseconds, as in the rows before");
      }
    }
  }
  times_ = TimesSoFar::seconds;
}

void CsvReader::note_all() {
  for (const std::string& what : fields_.header().notes) note(what);
  note_times();
  note_left_out();
}

void CsvReader::note_times() const {
  if (times_ == TimesSoFar::none || times_ == TimesSoFar::clock) return;
  const std::string_view name = fields_.name(kTime);
  note(
      times_ == TimesSoFar::seconds
          ? fmt::format("column {} is read as seconds, because it has fractions", shown(name))
          : fmt::format("column {} is read as microseconds (--columns time_ns={} for another unit)",
                        shown(name), name));
}

void CsvReader::note_left_out() {
  std::map<std::string, std::uint64_t> rows;
  for (auto& [gpu, device] : devices_) {
    for (const auto& [reason, count] : device.builder.trace().coverage.dropped) {
      rows[reason] += count;
    }
  }
  for (const auto& [reason, count] : rows) {
    note(fmt::format("rows left out: {} ({})", reason, human_count(count)));
  }
}

CsvDevice& CsvReader::device_of(int gpu) {
  if (latest_ != nullptr && latest_->first == gpu) return latest_->second;
  const bool first = devices_.empty();
  if (!first && outlet_.is_open()) throw MustBeWhole();
  const CsvEvents events = outlet_.is_open() ? CsvEvents::handed_on : CsvEvents::kept;
  latest_ = &*devices_.try_emplace(gpu, gpu, events).first;
  if (first) reserve(latest_->second.builder);
  return latest_->second;
}

void CsvReader::reserve(TraceBuilder& builder) {
  const std::size_t events = outlet_.room(rows_);
  builder.reserve_at_most(events);
  Trace& trace = builder.trace();
  reserve_at_most(trace.ids, events);
  if (fields_.has(kThread)) reserve_at_most(trace.threads, events);
  if (fields_.has(kTime)) reserve_at_most(trace.times_us, events);
  if (fields_.has(kTag)) reserve_at_most(trace.tags, events);
}

/// False at the end.
bool CsvReader::next_row() {
  if (read_short_row()) return true;
  if (!fields_.next()) return false;
  read_row();
  return true;
}

/// Reads the next row, if it is a short one and nothing is wrong with it; else nothing has been
/// done, and read_row takes it.
bool CsvReader::read_short_row() {
  ShortRow row;
  if (!fields_.is_short(row)) return false;
  CsvDevice& device = device_of(0);
  if (row.op == 'a') {
    if (device.is_full()) return false;
    if (!device.allocate(row.id, device.builder.lane(0, {}), row.size, 0, 0)) return false;
  } else {
    CsvBuffer* const freed = device.buffers.find(row.id);
    if (freed == nullptr || freed->freed != kNotFreed) return false;
    device.free(row.id, freed->lane, *freed);
  }
  device.builder.fill<&Trace::ids>(row.id);
  fields_.pass(row);
  return true;
}

void CsvReader::read_row() {
  Row& row = row_;
  row.clear();
  row.op = fields_.op();
  CsvDevice& device = device_of(fields_.says_more() ? gpu() : 0);
  if (row.op == kDriverOp) return leave_out(device, "segments and other events of the allocator");
  if (row.op == 'f' && fields_.is_null_id()) return leave_out(device, "frees of null");
  if (row.op == 'a' && fields_.is_null_id()) row.op = kFailedOp;
  if (row.op != kFailedOp)
    fields_.take(kId, row.id, "a whole number, or 0x and hexadecimal digits");
  fields_.take(kSize, row.size, "bytes as a whole number");
  if (fields_.says_more()) {
    fields_.take(kStream, row.stream, "a whole number");
    fields_.take(kThread, row.thread, "a whole number");
    if (!fields_.text(kPool).empty()) row.pool = fields_.pool();
    row.align_log2 = fields_.align_log2();
  }
  if (row.op == kFailedOp && row.size.value_or(0) == 0) {
    return leave_out(device, "allocations that failed");
  }
  add_event(device, row);
}

int CsvReader::gpu() const {
  constexpr const char* kExpected =
      "the number of a device, -1 for the host, -2 for its pinned memory or -3 for managed memory";
  const int gpu = fields_.number<int>(kDevice, kExpected).value_or(0);
  if (gpu < kLowestDevice) fields_.bad(kDevice, kExpected);
  return gpu;
}

/// A free that does not say where it comes from comes from where the block was asked for.
std::uint16_t CsvReader::lane_of(CsvDevice& device, const Row& row, const CsvBuffer* freed) {
  if (freed != nullptr && !row.stream && !row.pool) return freed->lane;
  const auto [stream, pool] = freed == nullptr ? std::pair<std::uint64_t, PoolId>()
                                               : device.builder.lane_named(freed->lane);
  try {
    return device.builder.lane(row.stream.value_or(stream), row.pool.value_or(pool));
  } catch (const std::length_error& error) {
    fields_.fail(error.what());
  }
}

void CsvReader::add_event(CsvDevice& device, Row& row) {
  const bool frees = row.op == 'f' || row.op == 'c';
  if (row.op == 'c') {
    if (outlet_.is_open()) throw MustBeWhole();
    device.keep_freed();
  }
  CsvBuffer* const freed = frees && row.id ? device.buffers.find(*row.id) : nullptr;
  if (freed != nullptr && !row.thread) row.thread.emplace(freed->thread);
  const std::uint16_t lane = lane_of(device, row, freed);
  if ((frees || row.op == 'a') && !row.id) {
    fields_.bad(kId, "the number of a buffer");
  }
  if ((row.op == 'a' || row.op == 's') && !row.size) {
    if (!fields_.has(kSize)) {
      fields_.fail(fmt::format("op {} needs a column 'size'; the header is {}",
                               shown(fields_.text(kOp)), header_text(fields_.header().names)));
    }
    fields_.bad(kSize, row.op == 'a' ? "bytes as a whole number" : "the number of the frontier");
  }
  switch (row.op) {
    case 'a':
      if (device.is_full()) fields_.fail("more than 4,294,967,295 allocations");
      if (!device.allocate(*row.id, lane, *row.size, row.align_log2, row.thread.value_or(0))) {
        fields_.fail(fmt::format("allocation of buffer {}, which is live already", id_text()));
      }
      break;
    case 'f':
    case 'c':
      add_free(device, row, lane, freed);
      break;
    case 'e':
      device.builder.add(Op::empty_cache, lane, kNoSlot, 0);
      break;
    case 'm':
      device.builder.add(Op::marker, lane, kNoSlot, 0);
      break;
    case kFailedOp:
      device.builder.add(Op::oom, lane, kNoSlot, *row.size, row.align_log2);
      break;
    default:
      device.builder.add(Op::safe_frontier, lane, kNoSlot, *row.size);
  }
  add_cold_columns(device.builder, row);
}

void CsvReader::add_free(CsvDevice& device, const Row& row, std::uint16_t lane, CsvBuffer* known) {
  if (known == nullptr &&
      !csv_has_allocated(input_, options_, device.builder.trace().gpu, *row.id, fields_.rest())) {
    fields_.fail(fmt::format("free of buffer {}, which was never allocated", id_text()));
  }
  if (row.op == 'f') {
    if (known == nullptr || known->freed != kNotFreed) {
      fields_.fail(fmt::format("free of buffer {}, which is free already", id_text()));
    }
    device.free(*row.id, lane, *known);
  } else {
    if (known == nullptr || known->freed == kNotFreed || known->completed) {
      fields_.fail(fmt::format("free of buffer {} completed without an 'f' before it", id_text()));
    }
    device.complete_free(lane, *known);
  }
}

void CsvReader::add_cold_columns(TraceBuilder& events, const Row& row) {
  events.fill<&Trace::ids>(row.id.value_or(0));
  if (!fields_.says_more()) return;
  if (fields_.has(kThread)) events.fill<&Trace::threads>(row.thread.value_or(0));
  if (fields_.has(kTime)) {
    const std::int64_t us = time_us();  // may change those before
    events.fill<&Trace::times_us>(us);
  }
  if (fields_.has(kTag)) events.fill<&Trace::tags>(tags_.number_of(fields_.text(kTag)));
  if (fields_.has(kFreedBefore)) {
    events.fill<&Trace::freed_before>(
        fields_.number<std::uint64_t>(kFreedBefore, "a whole number").value_or(0));
  }
  if (fields_.has(kEnd)) {
    const std::string_view end = trimmed(fields_.text(kEnd));
    if (!end.empty() && end != "upper" && end != "lower")
      fields_.bad(kEnd, "upper, lower or an empty field");
    events.fill<&Trace::upper_end>(std::uint8_t{end == "upper"});
  }
}

Recording hand_on_csv(const Input& input, const ReadOptions& options, const BeginEvents& begin) {
  try {
    CsvReader reader(input, options, begin);
    if (reader.read_all()) return reader.take();
  } catch (const MustBeWhole&) {
    // What was handed on is void.
  }
  return read_and_keep<CsvReader>(input, options);
}

}  // namespace

ReaderInfo csv_reader() {
  return {.name = "csv",
          .summary = "One event a row: op, id, size and, where known, stream, pool, time and more.",
          .recognises = is_csv,
          .read = read_and_keep<CsvReader>,
          .hand_on = hand_on_csv,
          .stream =
              [](const Input& input, const ReadOptions& options, const BeginEvents& begin) {
                return can_stream_csv(input, options) &&
                       CsvReader(input, options, begin).read_all();
              },
          .columns = csv_columns()};
}

}  // namespace memreplay
