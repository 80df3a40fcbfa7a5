#include "trace/log_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

#include "core/error.hpp"
#include "core/units.hpp"
#include "trace/csv_rows.hpp"
#include "trace/read_numbers.hpp"

namespace memreplay {

LogLines::LogLines(const Input& input) : input_(input), behind_(input), rest_(input.bytes) {
  constexpr std::string_view kMarkOfUtf8 = "\xEF\xBB\xBF";
  if (rest_.starts_with(kMarkOfUtf8)) rest_.remove_prefix(kMarkOfUtf8.size());
}

void LogLines::fail(std::string_view message) const {
  throw InputError(input_.name, std::to_string(std::max<std::uint64_t>(number_, 1)), message);
}

void LogLines::bad(std::string_view what, std::string_view text, std::string_view expected) const {
  fail(fmt::format("{} is {}; expected {}", what, shown(text), expected));
}

Address LogLines::address(std::string_view text) const {
  if (text.starts_with("0x")) return hexadecimal("a pointer", text.substr(2));
  if (text != "0" && text != "(nil)") bad("a pointer", text, "0x and hexadecimal digits");
  return 0;
}

Address LogLines::hexadecimal(std::string_view what, std::string_view text) const {
  constexpr int kBase = 16;
  Address value = 0;
  if (!text.empty() && read_hexadecimal(text, value) == text.size()) return value;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, kBase);
  if (error != std::errc{} || stop != end) bad(what, text, "hexadecimal digits of 64 bits");
  return value;
}

Bytes LogLines::size(std::string_view text) const {
  const Bytes value = whole("a size", text, "bytes as a whole number");
  check_size(value, text);
  return value;
}

std::uint64_t LogLines::whole(std::string_view what, std::string_view text,
                              std::string_view expected) const {
  std::uint64_t number = 0;
  if (read_digits(with_rest(text, input_.bytes), text.size(), number)) return number;
  const auto value = parse_whole(text);
  if (!value) bad(what, text, expected);
  return *value;
}

void LogLines::check_size(Bytes size, std::string_view text) const {
  if (size >= kMostBytes) bad("a size", text, "less than " + human_size(kMostBytes));
}

}  // namespace memreplay
