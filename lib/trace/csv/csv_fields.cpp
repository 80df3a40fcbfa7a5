#include "trace/csv/csv_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "trace/csv/csv.hpp"
#include "trace/pages.hpp"

namespace memreplay {

CsvFields::CsvFields(std::string_view file, std::string_view text, std::string_view by_hand)
    : rows_(file, text, csv_separator(text)) {
  rows_.keep_blanks(false);
  if (!rows_.next()) rows_.fail("the file is empty; expected a header such as op,id,size");
  header_ = read_csv_header(rows_, by_hand);
  for (std::size_t column = kSize + 1; column < kCsvColumns; ++column) {
    says_more_ |= header_.places[column].has_value();
  }
  is_short_ = header_.names.size() == 3 && header_.places[kOp] == 0 && header_.places[kId] == 1 &&
              header_.places[kSize] == 2;
  // In what is written as we write it a blank belongs to its tag.
  rows_.keep_blanks(header_.own && csv_separator(text) == ',' && !rows_.has_blanks());
}

bool CsvFields::is_short(ShortRow& row) const {
  const std::string_view text = rows_.ahead();
  if (!is_short_ || text.size() < 2 || text[1] != rows_.separator()) return false;
  row.op = text[0];
  std::size_t at = 2;
  const std::size_t id_digits = leading_digits(text.substr(at), row.id);
  at += id_digits;
  if (at >= text.size() || text[at] != rows_.separator()) return false;
  const std::size_t size_digits = leading_digits(text.substr(++at), row.size);
  at += size_digits;
  if (at < text.size() && text[at] == '\r') ++at;
  if (at >= text.size() || text[at] != '\n') return false;
  row.characters = at + 1;
  const bool says_size = row.op == 'a' && size_digits > 0;
  return (says_size || row.op == 'f') && id_digits - 1 < kDigitsThatFit &&
         size_digits <= kDigitsThatFit;
}

bool CsvFields::next() {
  if (!rows_.next()) return false;
  if (rows_.fields().size() != header_.names.size()) fill_up_row();
  return true;
}

void CsvFields::fill_up_row() {
  const std::size_t columns = header_.names.size();
  const std::size_t fields = rows_.fields().size();
  const auto is_there = [&](CsvColumn column) { return *header_.places[column] < fields; };
  if (fields < columns && is_there(kOp) && op() != 'a' && is_there(kId)) {
    return rows_.fill_up(columns);
  }
  fail(fmt::format("{} fields; expected {}, as in the header", fields, columns));
}

void CsvFields::bad(CsvColumn column, std::string_view expected) const {
  rows_.fail_at(*header_.places[column],
                fmt::format("{} is {}; expected {}", name(column), shown(text(column)), expected));
}

/// "0x7f00", "4096.0", " 17 ".
template <typename Number>
std::optional<Number> CsvFields::written_otherwise(CsvColumn column,
                                                   std::string_view expected) const {
  std::string_view field = trimmed(text(column));
  if (field.empty()) return std::nullopt;
  const bool hexadecimal =
      std::is_unsigned_v<Number> && (field.starts_with("0x") || field.starts_with("0X"));
  if (hexadecimal) {
    field.remove_prefix(2);
  } else if (field.ends_with(".0")) {
    field.remove_suffix(2);
  }
  Number value{};
  const char* end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, value, hexadecimal ? 16 : 10);
  if (error == std::errc::result_out_of_range) {
    bad(column, fmt::format("at most {}", std::numeric_limits<Number>::max()));
  }
  if (error != std::errc{} || stop != end) bad(column, expected);
  return value;
}

template std::optional<int> CsvFields::written_otherwise(CsvColumn, std::string_view) const;
template std::optional<std::uint32_t> CsvFields::written_otherwise(CsvColumn,
                                                                   std::string_view) const;
template std::optional<std::uint64_t> CsvFields::written_otherwise(CsvColumn,
                                                                   std::string_view) const;

char CsvFields::written_op() const {
  const auto op = csv_op(trimmed(text(kOp)));
  if (!op) bad(kOp, "a (or alloc, malloc), f (or free), c, e, m or s (memreplay list formats csv)");
  return *op;
}

bool CsvFields::is_null(std::string_view id) {
  constexpr std::string_view kNull[] = {"(nil)", "nil", "null", "NULL", "None", "nullptr", "0x0"};
  return std::ranges::find(kNull, trimmed(id)) != std::end(kNull);
}

std::optional<PoolId> CsvFields::written_pool() const {
  const std::string_view field = trimmed(text(kPool));
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

std::uint8_t CsvFields::written_align_log2() const {
  const auto align = number<Bytes>(kAlign, "a power of two");
  if (!align) return 0;
  if (!std::has_single_bit(*align)) bad(kAlign, "a power of two");
  return static_cast<std::uint8_t>(std::countr_zero(*align));
}

CsvDevice::CsvDevice(int gpu, CsvEvents fate) : builder(gpu), events(fate) {}

bool CsvDevice::allocate(std::uint64_t id, std::uint16_t lane, Bytes size, std::uint8_t align_log2,
                         std::uint32_t thread) {
  const auto [buffer, fresh] = buffers.emplace(id);
  if (!fresh && buffer->freed == kNotFreed) return false;
  const Slot slot = keeps_freed ? numbers : builder.take_slot();
  if (events == CsvEvents::kept) ++numbers;
  *buffer = {.size = size, .slot = slot, .thread = thread, .lane = lane};
  builder.add(Op::allocate, lane, slot, size, align_log2);
  return true;
}

void CsvDevice::keep_freed() {
  if (std::exchange(keeps_freed, true)) return;
  Trace& trace = builder.trace();
  std::vector<Slot> number_of(trace.slot_count);
  builder.forget_slots();
  numbers = 0;
  for (std::size_t event = 0; event < trace.size(); ++event) {
    Slot& slot = trace.slots[event];
    if (slot == kNoSlot) continue;
    Slot& number = number_of[slot];
    if (trace.ops[event] == Op::allocate) {
      number = numbers++;
      *buffers.emplace(trace.ids[event]).first = {
          .size = trace.sizes[event],
          .slot = number,
          .thread = trace.threads.empty() ? 0 : trace.threads[event],
          .lane = trace.lane_of[event]};
    } else {
      buffers.find(trace.ids[event])->freed = event;
    }
    slot = number;
  }
}

void CsvDevice::free(std::uint64_t id, std::uint16_t lane, CsvBuffer& block) {
  const Slot slot = block.slot;
  block.freed = builder.size();
  builder.add(Op::free, lane, slot, block.size);
  if (keeps_freed) return;
  buffers.erase(id);
  builder.return_slot(slot);
}

void CsvDevice::complete_free(std::uint16_t lane, CsvBuffer& block) {
  // Only now is it known that the free was not done at once.
  builder.op(block.freed) = Op::free_requested;
  block.completed = true;
  builder.add(Op::free_completed, lane, block.slot, block.size);
}

void CsvDevice::number_slots() {
  if (!keeps_freed) return;
  std::vector<Slot> slot_of(numbers, kNoSlot);
  Trace& trace = builder.trace();
  for (std::size_t event = 0; event < trace.size(); ++event) {
    Slot& slot = trace.slots[event];
    if (slot == kNoSlot) continue;
    Slot& own = slot_of[slot];
    if (trace.ops[event] == Op::allocate) own = builder.take_slot();
    slot = own;
    const Op op = trace.ops[event];
    if (op == Op::free || op == Op::free_completed) builder.return_slot(own);
  }
}

bool is_csv(const Input& input) {
  if (is_log_of_rmm(input)) return false;
  constexpr std::size_t kLongestHeader = 4000;
  std::string_view header = input.bytes.substr(0, kLongestHeader);
  header.remove_prefix(std::min(header.find_first_not_of("\r\n"), header.size()));
  header = header.substr(0, header.find('\n'));
  try {
    CsvRows rows(input.name, header, csv_separator(header));
    rows.keep_blanks(false);
    if (!rows.next()) return false;
    read_csv_header(rows, {});
    return true;
  } catch (const InputError&) {
    return false;
  }
}

bool can_stream_csv(const Input& input, const ReadOptions& options) {
  CsvFields fields(input.name, input.bytes, options.columns);
  if (fields.has(kTime) && is_undecided(fields.header().time)) return false;
  PagesBehind behind(input);
  std::optional<std::string> device;
  try {
    while (fields.next()) {
      if (fields.op() == 'c') return false;
      if (!device) device = fields.text(kDevice);
      if (fields.text(kDevice) != *device) return false;
      behind.passed(fields.rest());
    }
  } catch (const InputError&) {
    // The reading comes to it, unless something is wrong before it.
  }
  return true;
}

bool csv_has_allocated(const Input& input, const ReadOptions& options, int gpu, std::uint64_t id,
                       const char* end) {
  CsvFields fields(input.name, input.bytes, options.columns);
  while (fields.next() && fields.rest() < end) {
    if (fields.op() != 'a' || fields.is_null_id()) continue;
    if (fields.number<int>(kDevice, "").value_or(0) != gpu) continue;
    if (fields.number<std::uint64_t>(kId, "") == id) return true;
  }
  return false;
}

}  // namespace memreplay
