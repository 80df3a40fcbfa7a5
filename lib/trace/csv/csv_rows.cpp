#include "trace/csv/csv_rows.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Characters of UTF-8 text: bytes that do not continue one.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

}  // namespace

CsvRows::CsvRows(std::string_view file, std::string_view text) : file_(file), text_(text) {
  if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
}

void CsvRows::fail(std::string_view message) const {
  throw InputError(file_, std::to_string(std::max<std::uint64_t>(line_, 1)), message);
}

void CsvRows::fail_at(std::size_t field, std::string_view message) const {
  const std::string_view before = text_.substr(row_start_, field_starts_[field] - row_start_);
  const auto line_breaks = std::count(before.begin(), before.end(), '\n');
  const std::string_view line = before.substr(line_breaks == 0 ? 0 : before.find_last_of('\n') + 1);
  throw InputError(file_,
                   std::to_string(line_ + static_cast<std::uint64_t>(line_breaks)) + ":" +
                       std::to_string(characters(line) + 1),
                   message);
}

void CsvRows::plain_field() {
  const std::size_t end = std::min(text_.find_first_of(",\n", at_), text_.size());
  std::string_view field = text_.substr(at_, end - at_);
  const bool last = end == text_.size() || text_[end] == '\n';
  if (last && field.ends_with('\r')) field.remove_suffix(1);
  fields_.push_back(field);
  at_ = end;
}

void CsvRows::quoted_field() {
  std::string value;
  const std::size_t opened = at_++;
  for (;; ++at_) {
    if (at_ >= text_.size()) fail_at(field_starts_.size() - 1, "a quote that is never closed");
    if (text_[at_] == '"') {
      if (text_.substr(at_ + 1, 1) != "\"") break;
      ++at_;
    }
    if (text_[at_] == '\n') ++next_line_;
    value.push_back(text_[at_]);
  }
  ++at_;
  if (text_.substr(at_, 2) == "\r\n") ++at_;
  if (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n') {
    fail_at(field_starts_.size() - 1, "text after a closing quote; expected a comma");
  }
  if (value.size() + 2 == at_ - opened) {
    fields_.push_back(text_.substr(opened + 1, value.size()));
  } else {
    unquoted_.push_back(std::move(value));
    fields_.push_back(unquoted_.back());
  }
}

bool CsvRows::next() {
  while (text_.substr(at_, 1) == "\n" || text_.substr(at_, 2) == "\r\n") {
    at_ += text_[at_] == '\n' ? 1 : 2;
    ++next_line_;
  }
  if (at_ >= text_.size()) return false;
  line_ = next_line_;
  row_start_ = at_;
  fields_.clear();
  field_starts_.clear();
  unquoted_.clear();
  for (;; ++at_) {
    field_starts_.push_back(at_);
    if (at_ < text_.size() && text_[at_] == '"') {
      quoted_field();
    } else {
      plain_field();
    }
    if (at_ >= text_.size() || text_[at_] == '\n') break;
  }
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

std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string result = "'";
  for (const char c : text.substr(0, kLongest)) {
    result.push_back(static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '?' : c);
  }
  return result + (text.size() > kLongest ? "…'" : "'");
}

}  // namespace memreplay
