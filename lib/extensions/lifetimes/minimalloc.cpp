#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/address_table.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "extensions/lifetimes/buffer_lifetimes.hpp"
#include "trace/csv_rows.hpp"
#include "trace/input.hpp"
#include "trace/log_reading.hpp"
#include "trace/pages.hpp"
#include "trace/read_numbers.hpp"
#include "trace/stated_buffer.hpp"
#include "trace/trace_builder.hpp"

namespace memreplay {
namespace {

enum LifetimeColumn : std::size_t {
  kBuffer,
  kLower,
  kUpper,
  kLast,
  kBytes,
  kAlignment,
  kGaps,
  kOffset
};
constexpr std::size_t kLifetimeColumns = kOffset + 1;
constexpr std::size_t kPlainColumns = 4;  ///< id, lower, upper or end, and size: always there
/// Times go so far, and sizes.
constexpr std::uint64_t kLatest = std::numeric_limits<std::int64_t>::max();

constexpr std::pair<std::string_view, LifetimeColumn> kLifetimeNames[] = {
    {"id", kBuffer},   {"buffer", kBuffer}, {"buffer_id", kBuffer},    {"lower", kLower},
    {"start", kLower}, {"begin", kLower},   {"upper", kUpper},         {"end", kLast},
    {"size", kBytes},  {"gaps", kGaps},     {"alignment", kAlignment}, {"offset", kOffset},
};

/// Where each column stands, and the columns that say nothing about an allocation.
struct LifetimeHeader {
  std::array<std::optional<std::size_t>, kLifetimeColumns> places;
  std::vector<std::string> names;
  std::vector<std::string> unused;

  bool has(LifetimeColumn column) const { return places[column].has_value(); }
};

/// Numbers that have come: many of them lie close together.
class SeenNumbers {
 public:
  /// False where it has come before.
  bool add(std::uint64_t number) {
    constexpr int kOfAWord = 6;
    std::uint64_t& word = *words_.emplace(number >> kOfAWord).first;
    const std::uint64_t bit = std::uint64_t{1} << (number % (1 << kOfAWord));
    const bool is_new = (word & bit) == 0;
    word |= bit;
    return is_new;
  }

 private:
  AddressTable<std::uint64_t> words_;
};

/// The number that a name is; false for one with zeros before it, which is another name.
bool read_plain_number(std::string_view name, const CsvRows& rows, std::uint64_t& number) {
  if (name.size() > 1 && name.front() == '0') return false;
  if (rows.read_digits(name, number)) return true;
  const auto whole = parse_whole(name);
  if (whole) number = *whole;
  return whole.has_value();
}

LifetimeHeader read_lifetime_header(const CsvRows& rows) {
  LifetimeHeader header;
  for (std::size_t place = 0; place < rows.fields().size(); ++place) {
    const std::string_view name = rows.fields()[place];
    header.names.emplace_back(name);
    const auto* known = std::ranges::find(kLifetimeNames, name,
                                          &std::pair<std::string_view, LifetimeColumn>::first);
    if (known == std::end(kLifetimeNames)) {
      header.unused.emplace_back(name);
      continue;
    }
    if (header.has(known->second)) {
      rows.fail_at(place, "a second column " + shown(name) + "; expected one of a kind");
    }
    header.places[known->second] = place;
  }
  const bool has_end = header.has(kUpper) != header.has(kLast);
  if (!header.has(kBuffer) || !header.has(kLower) || !has_end || !header.has(kBytes)) {
    rows.fail(
        fmt::format("the header is {}; expected id, lower, upper (or end, the last time "
                    "itself) and size",
                    header_text(header.names)));
  }
  return header;
}

bool is_minimalloc(const Input& input) {
  constexpr std::size_t kLongestHeader = 4000;
  std::string_view header = input.bytes.substr(0, kLongestHeader);
  header = header.substr(0, header.find('\n'));
  try {
    CsvRows rows(input.name, header);
    rows.keep_blanks(false);
    if (!rows.next()) return false;
    read_lifetime_header(rows);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

/// A name that is no number as it is usually written, else the number.
struct BufferName {
  std::uint64_t number = 0;
  const std::string* text = nullptr;
};

class MinimallocReader {
 public:
  MinimallocReader(const Input& input, const ReadOptions& options, const BeginEvents& begin,
                   std::vector<StatedBuffer>* stated = nullptr)
      : input_(input),
        options_(options),
        rows_(input.name, input.bytes),
        behind_(input),
        stated_(stated),
        outlet_(input.name, begin) {
    recording_.path = input.name;
    recording_.format = "minimalloc";
    recording_.detail = "lifetimes of buffers (MiniMalloc)";
    recording_.lacks = {"streams", "threads", "times (only their order is kept)",
                        "requests that failed"};
    recording_.texts = {""};
    recording_.stacks = {{}};
  }

  void read_all() {
    rows_.keep_blanks(false);
    if (!rows_.next()) rows_.fail("no header; expected id,lower,upper,size");
    header_ = read_lifetime_header(rows_);
    is_plain_ = header_.names.size() == kPlainColumns && stated_ == nullptr;
    note_unused();
    lifetimes_.reserve(about_lines(input_.bytes));
    while (read_plain_row() || read_row()) behind_.passed(rows_.rest());
    name_buffers();
    lifetimes_.add_to(builder_, outlet_);
    recording_.traces.push_back(builder_.finish());
    outlet_.finish(recording_);
  }
  Recording take() { return std::move(recording_); }

 private:
  void note_unused() const;
  bool read_plain_row();
  bool read_row();
  void read_buffer();
  std::vector<StatedBuffer::Gap> gaps(const StatedBuffer& buffer);
  std::optional<Bytes> offset() const;
  BufferName name();
  void name_buffers();

  std::string_view text(LifetimeColumn column) const {
    return rows_.fields()[*header_.places[column]];
  }
  std::int64_t number(LifetimeColumn column, std::int64_t least, std::string_view expected) const;
  std::int64_t upper() const;
  std::uint8_t align_log2() const;
  [[noreturn]] void bad(LifetimeColumn column, std::string_view expected) const {
    const std::size_t place = *header_.places[column];
    rows_.fail_at(place, fmt::format("{} is {}; expected {}", header_.names[place],
                                     shown(text(column)), expected));
  }
  void leave_out(const char* reason) {
    builder_.trace().coverage.leave_out(reason, [this] { return rows_.place(); });
  }

  const Input& input_;
  const ReadOptions& options_;
  CsvRows rows_;
  PagesBehind behind_;
  std::vector<StatedBuffer>* stated_;  ///< where they go besides; may be null
  LifetimeHeader header_;
  bool is_plain_ = false;  ///< has but what all have, and no one asks for more
  BufferLifetimes lifetimes_;
  std::vector<std::pair<std::size_t, const std::string*>> texts_;  ///< by buffer, where it has one
  SeenNumbers seen_numbers_;                                       ///< numbers in all rows
  std::unordered_set<std::string> seen_names_;
  EventOutlet outlet_;
  TraceBuilder builder_{0};
  Recording recording_;
};

void MinimallocReader::note_unused() const {
  if (!options_.note) return;
  for (const std::string& name : header_.unused) {
    options_.note(fmt::format("{}: column {} is left out", input_.name, shown(name)));
  }
}

std::int64_t MinimallocReader::number(LifetimeColumn column, std::int64_t least,
                                      std::string_view expected) const {
  std::string_view digits = text(column);
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  std::uint64_t value = 0;
  if (!rows_.read_digits(digits, value)) value = parse_whole(digits).value_or(UINT64_MAX);
  if (value > kLatest) bad(column, expected);
  const auto magnitude = static_cast<std::int64_t>(value);
  const std::int64_t result = negative ? -magnitude : magnitude;
  if (result < least) bad(column, expected);
  return result;
}

std::int64_t MinimallocReader::upper() const {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  if (header_.has(kUpper)) return number(kUpper, kLeast, "a time as a whole number");
  const std::int64_t last = number(kLast, kLeast, "a time as a whole number");
  if (last == std::numeric_limits<std::int64_t>::max()) bad(kLast, "a time below 2^63 - 1");
  return last + 1;
}

std::uint8_t MinimallocReader::align_log2() const {
  if (!header_.has(kAlignment) || text(kAlignment).empty()) return 0;
  const auto alignment = static_cast<std::uint64_t>(number(kAlignment, 1, "a power of two"));
  if (!std::has_single_bit(alignment)) bad(kAlignment, "a power of two");
  return static_cast<std::uint8_t>(std::countr_zero(alignment));
}

/// "a-b" and "a-b@lo:hi", separated by blanks.
std::vector<StatedBuffer::Gap> MinimallocReader::gaps(const StatedBuffer& buffer) {
  std::vector<StatedBuffer::Gap> gaps;
  if (!header_.has(kGaps)) return gaps;
  constexpr std::string_view kExpected = "gaps as FROM-TO or FROM-TO@LOW:HIGH, blanks between them";
  std::string_view rest = text(kGaps);
  const auto take_number = [&](std::string_view mark) {
    const bool negative = rest.starts_with('-');
    const std::size_t digits = rest.find_first_not_of("0123456789", negative ? 1 : 0);
    const auto value = parse_whole(rest.substr(0, digits).substr(negative ? 1 : 0));
    if (!value || *value >= kLatest) bad(kGaps, kExpected);
    rest.remove_prefix(std::min(digits, rest.size()));
    if (!rest.starts_with(mark)) bad(kGaps, kExpected);
    rest.remove_prefix(mark.size());
    return negative ? -static_cast<std::int64_t>(*value) : static_cast<std::int64_t>(*value);
  };
  while (!rest.empty()) {
    StatedBuffer::Gap gap{.from = take_number("-"), .to = take_number("")};
    if (header_.has(kLast)) ++gap.to;
    if (rest.starts_with('@')) {
      rest.remove_prefix(1);
      const std::int64_t low = take_number(":");
      const std::int64_t high = take_number("");
      if (low < 0 || high < low) bad(kGaps, "the bytes in use as LOW:HIGH, from 0 on");
      gap.low = static_cast<Bytes>(low);
      gap.high = static_cast<Bytes>(high);
    }
    const std::int64_t from = gaps.empty() ? buffer.lower : gaps.back().to;
    if (gap.from < from || gap.to <= gap.from || gap.to > buffer.upper || gap.high > buffer.size) {
      bad(kGaps, "gaps one after the other inside of the buffer's life, and bytes inside of it");
    }
    gaps.push_back(gap);
    if (!rest.empty() && rest.front() != ' ') bad(kGaps, kExpected);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    leave_out("gaps in which a buffer is not in use");
  }
  return gaps;
}

std::optional<Bytes> MinimallocReader::offset() const {
  if (!header_.has(kOffset) || text(kOffset).empty()) return std::nullopt;
  return static_cast<Bytes>(number(kOffset, 0, "an offset as a whole number, or an empty field"));
}

BufferName MinimallocReader::name() {
  BufferName name;
  bool is_new = false;
  if (read_plain_number(text(kBuffer), rows_, name.number)) {
    is_new = seen_numbers_.add(name.number);
  } else {
    const auto [at, inserted] = seen_names_.emplace(text(kBuffer));
    is_new = inserted;
    name = {.text = &*at};
  }
  if (!is_new) bad(kBuffer, "a name that no row before has");
  return name;
}

/// Reads the next row, if it is as most are and there is nothing to say of it; else nothing has
/// been done, and read_row takes it.
bool MinimallocReader::read_plain_row() {
  if (!is_plain_) return false;
  std::array<std::uint64_t, kPlainColumns> numbers;
  const std::size_t characters = read_plain_numbers(rows_.ahead(), rows_.separator(), numbers);
  if (characters == 0) return false;
  const auto number = [&](LifetimeColumn column) { return numbers[*header_.places[column]]; };
  const std::uint64_t lower = number(kLower);
  const std::uint64_t last = number(header_.has(kLast) ? kLast : kUpper);
  const std::uint64_t upper = last + (header_.has(kLast) ? 1 : 0);
  const Bytes size = number(kBytes);
  if (last >= kLatest || size > kLatest || lower >= upper || size == 0) return false;
  const std::uint64_t id = number(kBuffer);
  if (!seen_numbers_.add(id)) return false;
  rows_.pass(characters);
  lifetimes_.add(static_cast<std::int64_t>(lower), static_cast<std::int64_t>(upper),
                 {.size = size, .id = id});
  return true;
}

/// False at the end.
bool MinimallocReader::read_row() {
  const std::uint64_t line = rows_.line() + 1;
  if (!rows_.next()) return false;
  if (rows_.line() != line) rows_.fail("an empty line before it; expected rows only");
  read_buffer();
  return true;
}

void MinimallocReader::read_buffer() {
  if (rows_.fields().size() != header_.names.size()) {
    rows_.fail(fmt::format("{} fields; expected {}, as the header has", rows_.fields().size(),
                           header_.names.size()));
  }
  if (text(kBuffer).empty()) bad(kBuffer, "the name of a buffer");
  const BufferName name = this->name();
  StatedBuffer buffer;
  buffer.lower =
      number(kLower, std::numeric_limits<std::int64_t>::min(), "a time as a whole number");
  buffer.upper = upper();
  buffer.size = static_cast<Bytes>(number(kBytes, 0, "bytes as a whole number below 2^63"));
  const std::uint8_t align_log2 = this->align_log2();
  buffer.alignment = Bytes{1} << align_log2;
  if (buffer.upper < buffer.lower) {
    bad(header_.has(kUpper) ? kUpper : kLast, "an end that is not before the beginning");
  }
  buffer.gaps = gaps(buffer);
  buffer.offset = offset();
  if (buffer.size == 0) return leave_out("buffers of size 0");
  if (buffer.upper == buffer.lower) return leave_out("buffers that are never live");
  if (name.text != nullptr) texts_.emplace_back(lifetimes_.buffers().size(), name.text);
  lifetimes_.add(buffer.lower, buffer.upper,
                 {.size = buffer.size, .id = name.number, .align_log2 = align_log2});
  if (stated_ == nullptr) return;
  buffer.name = text(kBuffer);
  stated_->push_back(std::move(buffer));
}

/// Numbers are kept as they are; where there are names all become texts, and their buffers are
/// numbered by rows.
void MinimallocReader::name_buffers() {
  std::vector<LivingBuffer>& buffers = lifetimes_.buffers();
  const bool numbered = std::ranges::all_of(
      texts_, [](const auto& text) { return parse_whole(*text.second).has_value(); });
  if (numbered) {
    for (const auto& [buffer, text] : texts_) buffers[buffer].id = *parse_whole(*text);
    return;
  }
  auto text = texts_.begin();
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const bool has_text = text != texts_.end() && text->first == i;
    recording_.texts.push_back(has_text ? *(text++)->second : std::to_string(buffers[i].id));
    buffers[i].tag = static_cast<std::uint32_t>(recording_.texts.size() - 1);
    buffers[i].id = i;
  }
}

std::vector<StatedBuffer> stated_rows(const Input& input, const ReadOptions& /*options*/) {
  std::vector<StatedBuffer> stated;
  MinimallocReader(input, {}, {}, &stated).read_all();
  return stated;
}

}  // namespace

/// Lifetimes of buffers, one a row, as planners of memory exchange them. At one time frees come
/// before allocations, and these in the order of the rows.
ReaderInfo minimalloc_reader() {
  return {
      .name = "minimalloc",
      .summary = "Lifetimes of buffers, as for MiniMalloc and idealloc: id, lower, upper, size.",
      .recognises = is_minimalloc,
      .read = read_and_keep<MinimallocReader>,
      .hand_on = read_and_hand_on<MinimallocReader>,
      .stated = stated_rows};
}

}  // namespace memreplay
