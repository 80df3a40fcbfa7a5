#include "trace/csv_rows.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>

#include "core/error.hpp"

namespace memreplay {
namespace {

constexpr double kMicrosecondsPerSecond = 1e6;

// The number that the whole text is, or unset.
template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> rounded(double us) {
  if (!(std::abs(us) < 0x1p63)) return std::nullopt;
  return std::llround(us);
}

std::optional<std::int64_t> scaled(std::string_view text, double us_per_unit) {
  std::string with_point(text);
  std::ranges::replace(with_point, ',', '.');
  const auto value = number_of<double>(with_point);
  return value ? rounded(*value * us_per_unit) : std::nullopt;
}

// "2024-05-01" in days since 1970.
std::optional<std::int64_t> day_of(std::string_view date) {
  if (date.size() != 10 || date[4] != '-' || date[7] != '-') return std::nullopt;
  const auto year = number_of<int>(date.substr(0, 4));
  const auto month = number_of<unsigned>(date.substr(5, 2));
  const auto day = number_of<unsigned>(date.substr(8, 2));
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day ymd{std::chrono::year(*year), std::chrono::month(*month),
                                        std::chrono::day(*day)};
  if (!ymd.ok()) return std::nullopt;
  return std::chrono::sys_days(ymd).time_since_epoch().count();
}

// "09:15:02.25", also with a date before it.
std::optional<std::int64_t> clock_us(std::string_view text) {
  std::int64_t days = 0;
  if (const std::size_t between = text.find_first_of(" T"); between != text.npos) {
    const auto day = day_of(text.substr(0, between));
    if (!day) return std::nullopt;
    days = *day;
    text.remove_prefix(between + 1);
    if (text.ends_with('Z')) text.remove_suffix(1);
  }
  const std::size_t first = text.find(':');
  const std::size_t second = first == text.npos ? first : text.find(':', first + 1);
  if (second == text.npos) return std::nullopt;
  const auto hours = number_of<unsigned>(text.substr(0, first));
  const auto minutes = number_of<unsigned>(text.substr(first + 1, second - first - 1));
  const auto seconds = scaled(text.substr(second + 1), kMicrosecondsPerSecond);
  constexpr std::int64_t kMinute = 60'000'000;
  if (!hours || !minutes || !seconds || *hours > 23 || *minutes > 59 || *seconds < 0 ||
      *seconds > kMinute) {
    return std::nullopt;
  }
  return ((days * 24 + *hours) * 60 + *minutes) * kMinute + *seconds;
}

/// A fraction tells seconds, or with `in_us` nothing.
std::optional<CsvTime> undecided_time(std::string_view text, bool in_us) {
  if (const auto whole = number_of<std::int64_t>(text)) {
    return CsvTime{*whole, CsvTimeUnit::undecided};
  }
  if (const auto us = scaled(text, in_us ? 1 : kMicrosecondsPerSecond)) {
    return CsvTime{*us, in_us ? CsvTimeUnit::undecided : CsvTimeUnit::s};
  }
  if (const auto us = clock_us(text)) return CsvTime{*us, CsvTimeUnit::us};
  return std::nullopt;
}

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Characters of UTF-8 text: bytes that do not continue one.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

}  // namespace

CsvRows::CsvRows(std::string_view file, std::string_view text, char separator)
    : file_(file), text_(text), separator_(separator) {
  if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
  kinds_['"'] = kinds_['\r'] = Kind::other;
  kinds_['\n'] = Kind::end;
  kinds_[static_cast<unsigned char>(separator)] = Kind::separator;
  const std::size_t last = text_.rfind('\n');
  if (last != text_.npos) last_end_ = last + 1;
}

void CsvRows::keep_blanks(bool keep) {
  trims_ = !keep;
  for (const char blank : {' ', '\t'}) {
    if (blank == separator_) continue;
    kinds_[static_cast<unsigned char>(blank)] = trims_ ? Kind::other : Kind::text;
  }
}

void CsvRows::fail(std::string_view message) const {
  throw InputError(file_, std::to_string(std::max<std::uint64_t>(line_, 1)), message);
}

void CsvRows::fail_at(std::size_t field, std::string_view message) const {
  fail_from(start_of(field), message);
}

std::size_t CsvRows::start_of(std::size_t field) const {
  const auto quote = std::ranges::find(quotes_, field, &std::pair<std::size_t, std::size_t>::first);
  if (quote != quotes_.end()) return quote->second;
  return static_cast<std::size_t>(fields_[field].data() - text_.data());
}

void CsvRows::fail_from(std::size_t start, std::string_view message) const {
  const std::string_view before = text_.substr(row_start_, start - row_start_);
  const auto line_breaks = std::count(before.begin(), before.end(), '\n');
  const std::string_view line = before.substr(line_breaks == 0 ? 0 : before.find_last_of('\n') + 1);
  throw InputError(file_,
                   std::to_string(line_ + static_cast<std::uint64_t>(line_breaks)) + ":" +
                       std::to_string(characters(line) + 1),
                   message);
}

// Tabs are blanks where they separate nothing.
void CsvRows::skip_blanks() {
  if (!trims_) return;
  while (at_ < text_.size() && (text_[at_] == ' ' || (text_[at_] == '\t' && separator_ != '\t'))) {
    ++at_;
  }
}

bool CsvRows::has_blanks() const {
  const std::string_view row = text_.substr(row_start_, at_ - row_start_);
  return row.find_first_of(" \t") != row.npos;
}

void CsvRows::fill_up(std::size_t count) {
  const std::size_t last = fields_.size() - 1;
  const std::size_t end = start_of(last) + fields_[last].size();
  fields_.resize(count, text_.substr(end, 0));
}

void CsvRows::add_place() { fields_.emplace_back(); }

void CsvRows::plain_field() {
  const char* const text = text_.data();
  const std::size_t size = text_.size();
  const char separator = separator_;
  std::size_t end = at_;
  while (end < size && text[end] != separator && text[end] != '\n') ++end;
  std::string_view field(text + at_, end - at_);
  const bool last = end == size || text[end] == '\n';
  if (last && field.ends_with('\r')) field.remove_suffix(1);
  const bool has_blank = trims_ && !field.empty() && (field.back() == ' ' || field.back() == '\t');
  add_field(has_blank ? trimmed(field) : field);
  at_ = end;
}

void CsvRows::quoted_field() {
  std::string value;
  const std::size_t opened = at_++;
  quotes_.emplace_back(count_, opened);
  for (;; ++at_) {
    if (at_ >= text_.size()) fail_from(opened, "a quote that is never closed");
    if (text_[at_] == '"') {
      if (text_.substr(at_ + 1, 1) != "\"") break;
      ++at_;
    }
    if (text_[at_] == '\n') ++next_line_;
    value.push_back(text_[at_]);
  }
  const std::size_t closed = ++at_;
  skip_blanks();
  if (text_.substr(at_, 2) == "\r\n") ++at_;
  if (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n') {
    fail_from(opened, separator_ == ',' ? "text after a closing quote; expected a comma"
                                        : "text after a closing quote; expected a separator");
  }
  if (value.size() + 2 == closed - opened) {
    add_field(text_.substr(opened + 1, value.size()));
  } else {
    unquoted_.push_back(std::move(value));
    add_field(unquoted_.back());
  }
}

/// Marks, by their high bits, those of the eight characters from `at` on that may end a field.
inline std::uint64_t CsvRows::marks(std::size_t at) const {
  constexpr std::uint64_t kEach = 0x0101010101010101;
  constexpr std::uint64_t kHigh = 0x80 * kEach;
  constexpr std::uint64_t kBelow = 0x2d * kEach;  // as '\n', '\r', '"', ' ' and ',' are
  const std::uint64_t eight = eight_characters(text_.substr(at));
  const std::uint64_t others = eight ^ static_cast<unsigned char>(separator_) * kEach;
  return ~(((eight | kHigh) - kBelow) & ((others | kHigh) - kEach)) & ~eight & kHigh;
}

/// The row at hand, if it has no quotes and no blanks that may have to go, and no more fields than
/// the row before: as nearly all.
bool CsvRows::plain_row() {
  if (at_ >= last_end_) return false;
  std::string_view* const fields = fields_.data();
  std::string_view* field = fields;
  std::string_view* const behind = fields + fields_.size();
  const char* const text = text_.data();
  std::size_t from = at_;
  std::size_t eight = at_;
  for (std::uint64_t marks = this->marks(eight);; marks &= marks - 1) {
    while (marks == 0) marks = this->marks(eight += 8);
    const std::size_t at = eight + static_cast<std::size_t>(std::countr_zero(marks)) / 8;
    const Kind kind = kinds_[static_cast<unsigned char>(text[at])];
    if (kind == Kind::text) continue;
    const bool is_end_of_two = text[at] == '\r' && text[at + 1] == '\n';
    if (field == behind || (kind == Kind::other && !is_end_of_two)) return false;
    *field++ = {text + from, at - from};
    from = at + 1;
    if (kind == Kind::separator) continue;
    at_ = from + (is_end_of_two ? 1 : 0);
    count_ = static_cast<std::size_t>(field - fields);
    if (field != behind) fields_.resize(count_);
    ++next_line_;
    return true;
  }
}

bool CsvRows::next() {
  for (; at_ < text_.size() && text_[at_] <= '\r'; ++next_line_) {
    if (text_[at_] != '\n' && text_.substr(at_, 2) != "\r\n") break;
    at_ += text_[at_] == '\n' ? 1 : 2;
  }
  if (at_ >= text_.size()) return false;
  line_ = next_line_;
  row_start_ = at_;
  count_ = 0;
  if (!quotes_.empty()) {
    quotes_.clear();
    unquoted_.clear();
  }
  if (plain_row()) return true;
  for (;; ++at_) {
    if (trims_) skip_blanks();
    if (at_ < text_.size() && text_[at_] == '"') {
      quoted_field();
    } else {
      plain_field();
    }
    if (at_ >= text_.size() || text_[at_] == '\n') break;
  }
  if (count_ < fields_.size()) fields_.resize(count_);
  if (at_ < text_.size()) ++at_;
  ++next_line_;
  return true;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted.push_back('"');
    quoted.push_back(c);
  }
  return quoted + '"';
}

std::string shown(std::string_view text, std::size_t longest) {
  std::string result = "'";
  for (const char c : text.substr(0, longest)) {
    result.push_back(static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '?' : c);
  }
  return result + (text.size() > longest ? "…'" : "'");
}

std::string header_text(std::span<const std::string> names) {
  constexpr std::size_t kLongest = 120;
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return shown(text, kLongest);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return text.substr(text.size());
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

CsvTimeUnit csv_time_unit(std::string_view name) {
  if (name == "ts") return CsvTimeUnit::trace_us;
  using Ending = std::pair<std::string_view, CsvTimeUnit>;
  constexpr std::array kEndings = {Ending{"_us", CsvTimeUnit::us}, Ending{"_ns", CsvTimeUnit::ns},
                                   Ending{"_ms", CsvTimeUnit::ms}, Ending{"_s", CsvTimeUnit::s},
                                   Ending{"seconds", CsvTimeUnit::s}};
  const auto found =
      std::ranges::find_if(kEndings, [&](const Ending& e) { return name.ends_with(e.first); });
  return found == kEndings.end() ? CsvTimeUnit::undecided : found->second;
}

std::optional<CsvTime> parse_csv_time(std::string_view text, CsvTimeUnit unit) {
  constexpr double kNanoseconds = 1e-3;
  // Exactly where it is whole.
  const auto whole = number_of<std::int64_t>(text);
  std::optional<std::int64_t> us;
  switch (unit) {
    case CsvTimeUnit::us:
      us = whole ? whole : scaled(text, 1);
      break;
    case CsvTimeUnit::ns:
      us = whole ? *whole / 1000 : scaled(text, kNanoseconds);
      break;
    case CsvTimeUnit::ms:
      us = scaled(text, 1e3);
      break;
    case CsvTimeUnit::s:
      us = scaled(text, kMicrosecondsPerSecond);
      break;
    case CsvTimeUnit::undecided:
    case CsvTimeUnit::trace_us:
      return undecided_time(text, unit == CsvTimeUnit::trace_us);
  }
  return us ? std::optional(CsvTime{*us, CsvTimeUnit::us}) : std::nullopt;
}

std::string_view expected_time(CsvTimeUnit unit) {
  constexpr std::array<std::string_view, 6> kExpected = {
      "microseconds",
      "nanoseconds",
      "milliseconds",
      "seconds",
      "seconds, whole microseconds, or a clock such as 09:15:02.25",
      "microseconds, or a clock such as 09:15:02.25"};
  return kExpected.at(static_cast<std::size_t>(unit));
}

}  // namespace memreplay
