#include "trace/pickle/pickle_text.hpp"

#include <algorithm>
#include <bit>
#include <charconv>

namespace memreplay {
namespace {

std::optional<PickleValue> parse_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  const bool is_number =
      !digits.empty() && std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number) return std::nullopt;
  std::uint64_t magnitude = 0;
  const auto [stop, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude);
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
  if (error != std::errc{} || (negative && magnitude > kHalf)) {
    return PickleValue{.tag = PickleTag::huge_decimal,
                       .index = static_cast<std::uint32_t>(text.size()),
                       .bits = reinterpret_cast<std::uintptr_t>(text.data())};
  }
  if (negative) return PickleValue{.tag = PickleTag::whole, .bits = ~magnitude + 1};
  return PickleValue{.tag = magnitude < kHalf ? PickleTag::whole : PickleTag::whole_above_2_63,
                     .bits = magnitude};
}

/// The number of `count` hexadecimal digits at the front.
std::optional<std::uint32_t> hex(std::string_view text, std::size_t count) {
  std::uint32_t code = 0;
  if (text.size() < count) return std::nullopt;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + count, code, 16);
  if (error != std::errc{} || stop != text.data() + count) return std::nullopt;
  return code;
}

void append_utf8(std::string& text, std::uint32_t code) {
  const auto tail = [&](unsigned shift) {
    text += static_cast<char>(0x80 | ((code >> shift) & 0x3F));
  };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0 | ((code >> 18) & 7));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace

std::optional<PickleValue> pickle_int(std::string_view line) {
  if (line == "00" || line == "01") {
    return PickleValue{.tag = PickleTag::boolean, .bits = line == "01" ? 1u : 0u};
  }
  return parse_integer(line);
}

std::optional<PickleValue> pickle_long(std::string_view line) {
  return parse_integer(line.ends_with('L') ? line.substr(0, line.size() - 1) : line);
}

std::optional<PickleValue> pickle_float(std::string_view line) {
  double value = 0;
  const char* end = line.data() + line.size();
  const auto [stop, error] = std::from_chars(line.data(), end, value);
  if (line.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return PickleValue{.tag = PickleTag::real, .bits = std::bit_cast<std::uint64_t>(value)};
}

std::string pickle_unicode(std::string_view line) {
  std::string text;
  text.reserve(line.size());
  while (!line.empty()) {
    std::optional<std::uint32_t> code;
    std::size_t used = 1;
    if (line.starts_with("\\u") && (code = hex(line.substr(2), 4))) used = 6;
    if (line.starts_with("\\U") && (code = hex(line.substr(2), 8))) used = 10;
    append_utf8(text, code.value_or(static_cast<unsigned char>(line.front())));
    line.remove_prefix(used);
  }
  return text;
}

std::optional<std::string> pickle_string(std::string_view line) {
  if (line.size() < 2 || line.front() != line.back() || (line[0] != '\'' && line[0] != '"')) {
    return std::nullopt;
  }
  line = line.substr(1, line.size() - 2);
  constexpr std::string_view kEscapes = "abfnrtv\\'\"", kMeanings = "\a\b\f\n\r\t\v\\'\"";
  std::string text;
  while (!line.empty()) {
    std::size_t used = 1;
    char c = line.front();
    if (c == '\\' && line.size() > 1) {
      const std::size_t known = kEscapes.find(line[1]);
      const auto byte = line[1] == 'x' ? hex(line.substr(2), 2) : std::nullopt;
      if (byte) c = static_cast<char>(*byte);
      if (known != std::string_view::npos) c = kMeanings[known];
      used = byte ? 4 : known != std::string_view::npos ? 2 : 1;
    }
    text += c;
    line.remove_prefix(used);
  }
  return text;
}

}  // namespace memreplay
