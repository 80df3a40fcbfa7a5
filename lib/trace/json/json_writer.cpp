#include "trace/json/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include "core/text.hpp"
#include "trace/value_writer.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10;

/// Decimal digits of a number in two's complement, least byte first.
std::string decimal(std::string_view bytes) {
  std::string magnitude(bytes);
  const bool negative = !bytes.empty() && (bytes.back() & 0x80) != 0;
  if (negative) {
    unsigned carry = 1;
    for (char& byte : magnitude) {
      carry += static_cast<unsigned char>(~byte);
      byte = static_cast<char>(carry);
      carry >>= 8;
    }
  }
  std::string digits;
  while (!magnitude.empty()) {
    unsigned rest = 0;
    for (std::size_t i = magnitude.size(); i-- > 0;) {
      rest = rest << 8 | static_cast<unsigned char>(magnitude[i]);
      magnitude[i] = static_cast<char>(rest / 10);
      rest %= 10;
    }
    digits += static_cast<char>('0' + rest);
    while (!magnitude.empty() && magnitude.back() == 0) magnitude.pop_back();
  }
  if (negative) digits += '-';
  std::ranges::reverse(digits);
  return digits;
}

bool is_plain(char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; }

/// So that a reader takes it for a number with a point again.
std::string real_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

void JsonWriter::scalar(const PlainScalar& value) {
  begin_item();
  const bool is_text = std::holds_alternative<std::string_view>(value);
  const bool quote = at_key() && !is_text && !std::holds_alternative<ByteString>(value);
  losses_.keys += at_key() && !is_text;
  if (quote) text_ += '"';
  put_scalar(value);
  if (quote) text_ += '"';
  end_item();
}

void JsonWriter::put_scalar(const PlainScalar& value) {
  auto at = std::back_inserter(text_);
  std::visit(Overloaded{
                 [&](std::monostate) { text_ += "null"; },
                 [&](bool truth) { text_ += truth ? "true" : "false"; },
                 [&](std::int64_t whole) { fmt::format_to(at, "{}", whole); },
                 [&](std::uint64_t whole) { fmt::format_to(at, "{}", whole); },
                 [&](const HugeNumber& number) {
                   text_ += number.decimal ? std::string(number.text) : decimal(number.text);
                 },
                 [&](double real) {
                   losses_.numbers += !std::isfinite(real);
                   text_ += std::isfinite(real) ? real_text(real) : "null";
                 },
                 [&](std::string_view text) { put_text(text); },
                 [&](const ByteString& bytes) { put_bytes(bytes.bytes); },
             },
             value);
}

void JsonWriter::open(Container kind, std::optional<ObjectId>) {
  if (at_key()) throw std::invalid_argument("a dict has a key that is not plain text");
  begin_item();
  const bool dict = kind == Container::dict;
  text_ += dict ? '{' : '[';
  open_.push_back({.dict = dict, .key_next = true});
}

void JsonWriter::close() {
  text_ += open_.back().dict ? '}' : ']';
  open_.pop_back();
  end_item();
}

void JsonWriter::finish() {
  text_ += '\n';
  flush();
}

void JsonWriter::begin_item() {
  if (open_.empty()) return;
  Open& top = open_.back();
  if (top.dict && !top.key_next) {
    text_ += ':';
  } else if (!top.empty) {
    text_ += ',';
  }
  top.empty = false;
}

void JsonWriter::end_item() {
  if (text_.size() >= kPiece) flush();
  if (!open_.empty()) open_.back().key_next = !open_.back().key_next;
}

void JsonWriter::put_text(std::string_view text) {
  text_ += '"';
  bool damaged = false;
  while (!text.empty()) {
    const auto plain =
        static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
    text_ += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::size_t length = utf8_length(text);
    const char c = text.front();
    if (length == 0) {
      text_ += "\xEF\xBF\xBD";
      damaged = true;
    } else if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(text_), "\\u{:04x}", c);
    } else {
      text_ += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  losses_.texts += damaged;
  text_ += '"';
}

void JsonWriter::put_bytes(std::string_view bytes) {
  ++losses_.byte_strings;
  text_ += '"';
  for (const char byte : bytes) {
    fmt::format_to(std::back_inserter(text_), "\\u{:04x}", static_cast<unsigned char>(byte));
  }
  text_ += '"';
}

void JsonWriter::flush() {
  out_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
  text_.clear();
}

}  // namespace memreplay
