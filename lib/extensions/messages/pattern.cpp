#include "extensions/messages/pattern.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/text.hpp"
#include "core/units.hpp"
#include "extensions/messages/packed_text.hpp"

namespace memreplay {
namespace {

/// A gap, or a word, of more characters is none.
constexpr std::size_t kLongestGap = 160;

struct Unit {
  std::string_view name;
  int power;
};
// Programs that write KB, MB and GB here mean powers of 1,024 too.
constexpr Unit kUnits[] = {{"bytes", 0}, {"KiB", 1}, {"MiB", 2}, {"GiB", 3}, {"TiB", 4}, {"PiB", 5},
                           {"EiB", 6},   {"KB", 1},  {"MB", 2},  {"GB", 3},  {"TB", 4},  {"PB", 5},
                           {"kB", 1},    {"B", 0},   {"K", 1},   {"M", 2},   {"G", 3},   {"T", 4}};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Digits, perhaps with a point and with commas between thousands.
struct FoundNumber {
  std::string digits;
  std::size_t end = 0;
  bool is_parted = false;  ///< by a line break
};

char at_or_end(std::string_view packed, std::size_t at) {
  return at < packed.size() ? packed[at] : kLeftOut;
}

// A comma between thousands: three digits come after it.
bool parts_thousands(std::string_view packed, std::size_t at) {
  for (std::size_t i = 1; i <= 3; ++i) {
    if (!is_digit(at_or_end(packed, at + i))) return false;
  }
  return !is_digit(at_or_end(packed, at + 4));
}

// "1900,00 MiB", as other countries write it.
bool is_decimal_comma(std::string_view packed, std::size_t at) {
  std::size_t digits = 0;
  while (is_digit(at_or_end(packed, at + 1 + digits))) ++digits;
  return packed[at] == ',' && (digits == 1 || digits == 2) &&
         is_letter(at_or_end(packed, at + 1 + digits));
}

// A line break, or the end of what there is, within the digits after a comma.
bool is_broken_after(std::string_view packed, std::size_t comma) {
  std::size_t at = comma + 1;
  while (at < comma + 4 && is_digit(at_or_end(packed, at))) ++at;
  const char next = at_or_end(packed, at);
  return packed[comma] == ',' && at > comma + 1 && (next == kWrapped || next == kLeftOut);
}

std::optional<FoundNumber> number_at(std::string_view packed, std::size_t at) {
  if (at_or_end(packed, at) == kApart) ++at;
  FoundNumber number;
  for (number.end = at; number.end < packed.size(); ++number.end) {
    const char c = packed[number.end];
    const char next = at_or_end(packed, number.end + 1);
    if (c == kWrapped) {
      number.is_parted = true;
    } else if (is_digit(c) || (c == '.' && (is_digit(next) || next == kWrapped))) {
      number.digits += c;
    } else if (is_decimal_comma(packed, number.end)) {
      number.digits += '.';
    } else if (c != ',' || !parts_thousands(packed, number.end)) {
      break;
    }
  }
  const bool at_point = at_or_end(packed, number.end) == '.';
  const bool is_cut = at_or_end(packed, number.end + at_point) == kLeftOut ||
                      (number.end < packed.size() && is_broken_after(packed, number.end));
  const bool is_one = !number.digits.empty() && std::ranges::count(number.digits, '.') <= 1;
  if (is_cut || !is_one || !is_digit(number.digits[0])) return std::nullopt;
  return number;
}

// A single letter is a unit before another character, or before the words of the pattern.
std::optional<Unit> unit_at(std::string_view text, std::string_view next) {
  for (const Unit& unit : kUnits) {
    if (!text.starts_with(unit.name)) continue;
    const bool is_cut = text.size() == unit.name.size() || text[unit.name.size()] == kLeftOut;
    if (unit.name.size() > 1 || (!is_cut && !is_letter(text[1]))) return unit;
    if (unit.name == "B" && !is_cut) return unit;
    if (!next.empty() && text.substr(1).starts_with(next)) return unit;
  }
  return std::nullopt;
}

// A number that a line break parts is one where it has decimals and a unit.
bool read_size(std::string_view packed, std::size_t& at, double unit, std::string_view next,
               PatternValue& value) {
  const auto number = number_at(packed, at);
  if (!number) return false;
  const std::size_t point = number->digits.find('.');
  std::size_t end = number->end;
  if (unit == 0) {
    if (at_or_end(packed, end) == '.') ++end;  // "184. MiB"
    const bool over_line = packed[end] == kApart;
    const auto written = unit_at(packed.substr(end + over_line), next);
    if (!written || (over_line && written->name.size() == 1)) return false;
    end += over_line;
    unit = std::ldexp(1.0, 10 * written->power);
    end += written->name.size();
  } else {
    const std::size_t over_line = at_or_end(packed, end) == kApart;
    const auto written = unit_at(packed.substr(std::min(end + over_line, packed.size())), {});
    if (written && written->name.size() > 1 && !next.starts_with(written->name)) {
      unit = std::ldexp(1.0, 10 * written->power);
      end += over_line + written->name.size();
    } else if (unit == 1 && point != std::string::npos) {
      return false;  // its unit is lost
    }
  }
  if (number->is_parted && (point == std::string::npos || unit == 1)) return false;
  double figure = 0;
  const char* const last = number->digits.data() + number->digits.size();
  if (std::from_chars(number->digits.data(), last, figure).ec != std::errc()) return false;
  const auto decimals = point == std::string::npos ? 0 : number->digits.size() - point - 1;
  const double within = unit == 1 ? 0 : unit / std::pow(10, static_cast<double>(decimals));
  value.word = packed.substr(at, end - at);
  value.overflows = figure * unit >= static_cast<double>(kMostBytes);
  // Some programs cut the last digit off, others round it.
  if (!value.overflows)
    value.size = {static_cast<Bytes>(figure * unit), static_cast<Bytes>(std::ceil(within))};
  at = end;
  return true;
}

bool read_count(std::string_view packed, std::size_t& at, PatternValue& value) {
  const auto number = number_at(packed, at);
  if (!number || number->is_parted) return false;
  const auto whole = parse_whole(number->digits);
  if (!whole) return false;
  value.count = *whole;
  at = number->end;
  return true;
}

// Up to the next words of the pattern.
bool read_word(std::string_view packed, std::size_t& at, std::string_view until,
               PatternValue& value) {
  const std::size_t end = packed.find(until, at);
  if (end == packed.npos || end - at > kLongestGap) return false;
  value.word = packed.substr(at, end - at);
  if (value.word.find_first_of("\x01\x02\x03") != value.word.npos) return false;
  at = end;
  return true;
}

// Quotation marks, colons and their like between a key and its value.
std::size_t separators_at(std::string_view packed) {
  constexpr std::size_t kMost = 5;
  return std::min({packed.find_first_not_of("'\":,=|()"), packed.size(), kMost});
}

// Over the end of a line, unless that ends a table's cell.
bool match_literal(std::string_view packed, std::size_t& at, std::string_view literal) {
  if (packed.substr(at).starts_with(literal)) {
    at += literal.size();
    return true;
  }
  if (literal.starts_with('|')) return false;
  std::size_t end = at;
  for (const char c : literal) {
    if (at_or_end(packed, end) == kApart) ++end;
    if (at_or_end(packed, end++) != c) return false;
  }
  at = end;
  return true;
}

// As it was written before blanks were taken out: "17179869182.00 GiB".
std::string written(std::string_view size) {
  const std::size_t unit = std::min(size.find_first_not_of("0123456789.,"), size.size());
  return std::string(size.substr(0, unit)) + (unit < size.size() ? " " : "") +
         std::string(size.substr(unit));
}

void note_overflow(std::string_view size, OomMessage& message) {
  const std::string text = written(size);
  const bool is_new = std::ranges::find(message.overflows, text) == message.overflows.end();
  if (is_new) message.overflows.push_back(text);
}

template <typename Enum>
std::optional<std::size_t> index_of(std::string_view name) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(Enum::end); ++i) {
    if (name_of(static_cast<Enum>(i)) == name) return i;
  }
  return std::nullopt;
}

}  // namespace

Pattern::Pattern(const char* words) {
  std::string_view rest = words;
  while (!rest.empty()) {
    const std::size_t brace = std::min(rest.find('{'), rest.size());
    std::string literal(rest.substr(0, brace));
    std::erase_if(literal, [](char c) { return c == ' ' || c == '*' || c == '`'; });
    if (!literal.empty()) pieces_.push_back({.literal = std::move(literal)});
    rest.remove_prefix(brace);
    if (rest.empty()) break;
    const std::size_t end = rest.find('}');
    add_field(rest.substr(1, end - 1));
    rest.remove_prefix(end + 1);
  }
}

void Pattern::add_field(std::string_view field) {
  Piece piece;
  const std::size_t colon = std::min(field.find(':'), field.size());
  const std::string_view name = field.substr(0, colon);
  if (colon < field.size()) {
    const auto unit = unit_at(std::string(field.substr(colon + 1)) + ' ', {});
    piece.unit = std::ldexp(1.0, 10 * unit.value().power);
  }
  if (const auto figure = index_of<Figure>(name)) {
    piece = {Kind::size, {}, Target::figure, *figure, piece.unit};
  } else if (const auto count = index_of<Count>(name)) {
    piece = {Kind::number, {}, Target::count, *count, 0};
  } else if (const auto word = index_of<OomWord>(name)) {
    piece = {Kind::word, {}, Target::word, *word, 0};
  } else {
    piece.kind = name == "*"        ? Kind::gap
                 : name == "~"      ? Kind::separators
                 : name == "size"   ? Kind::size
                 : name == "number" ? Kind::number
                                    : Kind::word;
  }
  pieces_.push_back(std::move(piece));
}

bool Pattern::has_figure() const {
  return std::ranges::any_of(pieces_, [](const Piece& piece) { return piece.kind == Kind::size; });
}

bool Pattern::match_field(const Piece& piece, const Piece* next, std::string_view packed,
                          std::size_t& at, PatternValue& value) const {
  switch (piece.kind) {
    case Kind::size:
      return read_size(packed, at, piece.unit, next != nullptr ? next->literal : "", value);
    case Kind::number:
      return read_count(packed, at, value);
    case Kind::separators:
      at += separators_at(packed.substr(std::min(at, packed.size())));
      return true;
    default:
      return next != nullptr && read_word(packed, at, next->literal, value);
  }
}

std::optional<PatternMatch> Pattern::match_at(std::string_view packed, std::size_t at) const {
  PatternMatch match{.at = at, .end = at, .values = {}};
  std::size_t values = 0;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    if (piece.kind == Kind::literal) {
      if (!match_literal(packed, match.end, piece.literal)) return std::nullopt;
      continue;
    }
    PatternValue value;
    const Piece* const next = i + 1 < pieces_.size() ? &pieces_[i + 1] : nullptr;
    if (!match_field(piece, next, packed, match.end, value)) return std::nullopt;
    if (piece.has_value()) match.values[values++] = value;
  }
  const Piece& last = pieces_.back();
  const char next = at_or_end(packed, match.end);
  const bool in_number = last.kind == Kind::literal && is_digit(last.literal.back()) &&
                         (is_digit(next) || next == kWrapped);
  if (in_number) return std::nullopt;
  return match;
}

std::optional<PatternMatch> Pattern::find(std::string_view packed, std::size_t from,
                                          std::size_t to) const {
  const std::string& first = beginning();
  const std::string_view text = packed.substr(0, std::min(packed.size(), to + first.size()));
  for (std::size_t at = text.find(first, from); at < to; at = text.find(first, at + 1)) {
    if (const auto match = match_at(packed, at)) return match;
  }
  return std::nullopt;
}

void Pattern::fill(const PatternMatch& match, OomMessage& message) const {
  std::size_t values = 0;
  for (const Piece& piece : pieces_) {
    if (!piece.has_value()) continue;
    const PatternValue& value = match.values[values++];
    if (piece.target == Target::figure) {
      auto& figure = message.figures[piece.index];
      if (value.overflows) note_overflow(value.word, message);
      if (!value.overflows && !figure) figure = value.size;
    } else if (piece.target == Target::count) {
      auto& count = message.counts[piece.index];
      if (!count) count = value.count;
    } else if (piece.target == Target::word && message.words[piece.index].empty()) {
      message.words[piece.index] = value.word;
    }
  }
}

}  // namespace memreplay
