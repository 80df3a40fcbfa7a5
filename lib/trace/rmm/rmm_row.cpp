#include "trace/rmm/rmm_row.hpp"

#include <algorithm>
#include <iterator>

#include "core/text.hpp"
#include "trace/csv/csv_rows.hpp"

namespace memreplay {
namespace {

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

}  // namespace

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

}  // namespace memreplay
