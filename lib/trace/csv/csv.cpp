#include "trace/csv/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "trace/csv/csv_rows.hpp"
#include "trace/trace_builder.hpp"

namespace memreplay {
namespace {

enum Column : std::size_t {
  kOp,
  kId,
  kSize,
  kStream,
  kDevice,
  kPool,
  kThread,
  kTime,
  kAlign,
  kTag,
  kFreedBefore,
  kEnd,
  kColumns
};
constexpr std::array<std::string_view, kColumns> kNames = {
    "op",     "id",      "size",  "stream", "device",       "pool",
    "thread", "time_us", "align", "tag",    "freed_before", "end"};

/// What a row says, before anything is known of other rows.
struct Row {
  char op = 0;
  std::optional<std::uint64_t> id;
  std::optional<Bytes> size;
  std::optional<std::uint64_t> stream;
  std::optional<PoolId> pool;
  std::optional<std::uint32_t> thread;
  std::uint8_t align_log2 = 0;
};

struct Buffer {
  Slot number = 0;  ///< of the allocation; takes the place of a slot until all rows are read
  Bytes size = 0;
  std::uint64_t stream = 0;
  PoolId pool;
  std::uint32_t thread = 0;
  std::optional<std::size_t> freed_at;  ///< event
  bool completed = false;
};

struct DeviceRows {
  explicit DeviceRows(int gpu) : builder(gpu) {}

  TraceBuilder builder;
  std::unordered_map<std::uint64_t, Buffer> buffers;  ///< by id, the latest of each
  Slot allocations = 0;
};

class CsvReader {
 public:
  explicit CsvReader(const Input& input) : rows_(input.name, input.bytes) {
    recording_.path = input.name;
    recording_.format = "csv";
    recording_.detail = "CSV";
    recording_.texts = {""};
    recording_.stacks = {{}};
  }

  Recording read() {
    read_header();
    while (rows_.next()) read_row();
    for (auto& [gpu, device] : devices_) {
      number_slots(device);
      recording_.traces.push_back(device.builder.finish());
    }
    return std::move(recording_);
  }

 private:
  void read_header();
  void read_row();
  void add_event(DeviceRows& device, Row row);
  void add_free(DeviceRows& device, const Row& row, std::uint16_t lane);
  void add_cold_columns(Trace& trace, const Row& row);
  static void number_slots(DeviceRows& device);

  bool has(Column column) const { return places_[column].has_value(); }
  /// Empty where the file has no such column.
  std::string_view text(Column column) const {
    return has(column) ? rows_.fields()[*places_[column]] : std::string_view{};
  }
  [[noreturn]] void bad(Column column, std::string_view expected) const {
    rows_.fail_at(*places_[column], fmt::format("{} is {}; expected {}", kNames[column],
                                                shown(text(column)), expected));
  }
  template <typename Number>
  std::optional<Number> number(Column column, std::string_view expected) const;
  std::optional<PoolId> pool() const;
  std::uint8_t align_log2() const;
  std::uint32_t tag();

  CsvRows rows_;
  std::array<std::optional<std::size_t>, kColumns> places_;
  std::size_t columns_ = 0;  ///< in this file
  std::map<int, DeviceRows> devices_;
  std::unordered_map<std::string, std::uint32_t> tags_;
  Recording recording_;
};

template <typename Number>
std::optional<Number> CsvReader::number(Column column, std::string_view expected) const {
  const std::string_view field = text(column);
  if (field.empty()) return std::nullopt;
  Number value{};
  const auto [stop, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error == std::errc::result_out_of_range) {
    bad(column, fmt::format("at most {}", std::numeric_limits<Number>::max()));
  }
  if (error != std::errc{} || stop != field.data() + field.size()) bad(column, expected);
  return value;
}

std::optional<PoolId> CsvReader::pool() const {
  const std::string_view field = text(kPool);
  const std::size_t colon = field.find(':');
  const auto part = [&](std::string_view digits) {
    const auto value = parse_whole(digits);
    if (!value) bad(kPool, "a whole number, or two of them as FIRST:SECOND");
    return *value;
  };
  if (field.empty()) return std::nullopt;
  if (colon == field.npos) return PoolId{0, part(field)};
  return PoolId{part(field.substr(0, colon)), part(field.substr(colon + 1))};
}

std::uint8_t CsvReader::align_log2() const {
  const auto align = number<Bytes>(kAlign, "a power of two");
  if (!align) return 0;
  if (!std::has_single_bit(*align)) bad(kAlign, "a power of two");
  return static_cast<std::uint8_t>(std::countr_zero(*align));
}

std::uint32_t CsvReader::tag() {
  if (text(kTag).empty()) return 0;
  const auto next = static_cast<std::uint32_t>(recording_.texts.size());
  const auto [known, is_new] = tags_.emplace(text(kTag), next);
  if (is_new) recording_.texts.emplace_back(text(kTag));
  return known->second;
}

void CsvReader::read_header() {
  if (!rows_.next()) rows_.fail("the file is empty; expected a header such as op,id,size");
  columns_ = rows_.fields().size();
  for (std::size_t place = 0; place < columns_; ++place) {
    const std::string_view name = rows_.fields()[place];
    const auto column = std::find(kNames.begin(), kNames.end(), name);
    if (column == kNames.end()) {
      const std::vector<std::string> known(kNames.begin(), kNames.end());
      rows_.fail_at(place, fmt::format("column {} is unknown{}; expected some of {}", shown(name),
                                       did_you_mean(name, known), fmt::join(kNames, ",")));
    }
    auto& known_place = places_[static_cast<std::size_t>(column - kNames.begin())];
    if (known_place) rows_.fail_at(place, fmt::format("column '{}' is named twice", name));
    known_place = place;
  }
  for (const Column needed : {kOp, kId}) {
    if (!has(needed)) {
      rows_.fail(
          fmt::format("the header has no column '{}'; expected at least op,id", kNames[needed]));
    }
  }
}

void CsvReader::read_row() {
  if (rows_.fields().size() != columns_) {
    rows_.fail(
        fmt::format("{} fields; expected {}, as in the header", rows_.fields().size(), columns_));
  }
  constexpr std::string_view kOps = "afcems";
  if (text(kOp).size() != 1 || kOps.find(text(kOp)) == kOps.npos) {
    bad(kOp, "a, f, c, e, m or s");
  }
  Row row;
  row.op = text(kOp).front();
  row.id = number<std::uint64_t>(kId, "a whole number");
  row.size = number<Bytes>(kSize, "bytes as a whole number");
  row.stream = number<std::uint64_t>(kStream, "a whole number");
  row.thread = number<std::uint32_t>(kThread, "a whole number");
  row.pool = pool();
  row.align_log2 = align_log2();
  const int gpu = number<int>(kDevice, "the number of a device, or -1 for the host").value_or(0);
  if (gpu < -1) bad(kDevice, "the number of a device, or -1 for the host");
  add_event(devices_.try_emplace(gpu, gpu).first->second, row);
}

void CsvReader::add_event(DeviceRows& device, Row row) {
  // A free that does not say where it comes from comes from where the block was asked for.
  const auto known = row.id ? device.buffers.find(*row.id) : device.buffers.end();
  if (known != device.buffers.end() && (row.op == 'f' || row.op == 'c')) {
    if (!row.stream) row.stream = known->second.stream;
    if (!row.pool) row.pool = known->second.pool;
    if (!row.thread) row.thread = known->second.thread;
  }
  std::uint16_t lane = 0;
  try {
    lane = device.builder.lane(row.stream.value_or(0), row.pool.value_or(PoolId{}));
  } catch (const std::length_error& error) {
    rows_.fail(error.what());
  }
  if (std::string_view("afc").find(row.op) != std::string_view::npos && !row.id) {
    bad(kId, "the number of a buffer");
  }
  if (std::string_view("as").find(row.op) != std::string_view::npos && !row.size) {
    if (!has(kSize)) rows_.fail(fmt::format("op '{}' needs a column 'size'", row.op));
    bad(kSize, row.op == 'a' ? "bytes as a whole number" : "the number of the frontier");
  }
  switch (row.op) {
    case 'a': {
      const auto [buffer, is_new] = device.buffers.try_emplace(*row.id);
      if (!is_new && !buffer->second.freed_at) {
        rows_.fail(fmt::format("allocation of buffer {}, which is live already", *row.id));
      }
      if (device.allocations == kNoSlot) rows_.fail("more than 4,294,967,295 allocations");
      buffer->second = {.number = device.allocations++,
                        .size = *row.size,
                        .stream = row.stream.value_or(0),
                        .pool = row.pool.value_or(PoolId{}),
                        .thread = row.thread.value_or(0),
                        .freed_at = {}};
      device.builder.add(Op::allocate, lane, buffer->second.number, *row.size, row.align_log2);
      break;
    }
    case 'f':
    case 'c':
      add_free(device, row, lane);
      break;
    case 'e':
      device.builder.add(Op::empty_cache, lane, kNoSlot, 0);
      break;
    case 'm':
      device.builder.add(Op::marker, lane, kNoSlot, 0);
      break;
    default:
      device.builder.add(Op::safe_frontier, lane, kNoSlot, *row.size);
  }
  add_cold_columns(device.builder.trace(), row);
}

void CsvReader::add_free(DeviceRows& device, const Row& row, std::uint16_t lane) {
  const auto known = device.buffers.find(*row.id);
  if (known == device.buffers.end()) {
    rows_.fail(fmt::format("free of buffer {}, which was never allocated", *row.id));
  }
  Buffer& buffer = known->second;
  Trace& trace = device.builder.trace();
  if (row.op == 'f') {
    if (buffer.freed_at) {
      rows_.fail(fmt::format("free of buffer {}, which is free already", *row.id));
    }
    buffer.freed_at = trace.size();
  } else {
    if (!buffer.freed_at || buffer.completed) {
      rows_.fail(fmt::format("free of buffer {} completed without an 'f' before it", *row.id));
    }
    // Only now is it known that the free was not done at once.
    trace.ops[*buffer.freed_at] = Op::free_requested;
    buffer.completed = true;
  }
  device.builder.add(row.op == 'f' ? Op::free : Op::free_completed, lane, buffer.number,
                     buffer.size);
}

void CsvReader::add_cold_columns(Trace& trace, const Row& row) {
  trace.ids.push_back(row.id.value_or(0));
  if (has(kThread)) trace.threads.push_back(row.thread.value_or(0));
  if (has(kTime)) {
    trace.times_us.push_back(number<std::int64_t>(kTime, "microseconds").value_or(0));
  }
  if (has(kTag)) trace.tags.push_back(tag());
  if (has(kFreedBefore)) {
    trace.freed_before.push_back(number<std::uint64_t>(kFreedBefore, "a whole number").value_or(0));
  }
  if (has(kEnd)) {
    const std::string_view end = text(kEnd);
    if (!end.empty() && end != "upper" && end != "lower") bad(kEnd, "upper, lower or nothing");
    trace.upper_end.push_back(end == "upper");
  }
}

void CsvReader::number_slots(DeviceRows& device) {
  std::vector<Slot> slot_of(device.allocations, kNoSlot);
  Trace& trace = device.builder.trace();
  for (std::size_t event = 0; event < trace.size(); ++event) {
    Slot& slot = trace.slots[event];
    if (slot == kNoSlot) continue;
    Slot& own = slot_of[slot];
    if (trace.ops[event] == Op::allocate) own = device.builder.take_slot();
    slot = own;
    const Op op = trace.ops[event];
    if (op == Op::free || op == Op::free_completed) device.builder.return_slot(own);
  }
}

bool recognises(const Input& input) {
  std::string_view header = input.bytes.substr(0, input.bytes.find_first_of("\r\n"));
  if (header.starts_with("\xEF\xBB\xBF")) header.remove_prefix(3);
  const std::string columns = fmt::format(",{},", header.substr(0, 1000));
  return columns.find(",op,") != columns.npos && columns.find(",id,") != columns.npos;
}

}  // namespace

ReaderInfo csv_reader() {
  return {.name = "csv",
          .summary = "One event a row: op, id, size and, where known, stream, pool, time and more.",
          .recognises = recognises,
          .read = [](const Input& input) { return CsvReader(input).read(); }};
}

}  // namespace memreplay
