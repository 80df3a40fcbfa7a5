#include "extensions/messages/packed_text.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace memreplay {
namespace {

constexpr char kEscape = '\x1b';

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool in_number(char c) { return is_digit(c) || c == '.' || c == ','; }
bool ends_in_number(const std::string& text) {
  const std::size_t size = text.size();
  if (size == 0 || !in_number(text.back())) return false;
  return is_digit(text.back()) || (size > 1 && is_digit(text[size - 2]));
}

/// What stands for something else, or for nothing, where a text is shown.
struct Replacement {
  std::string_view written;
  std::string_view meant;
};

constexpr Replacement kReplacements[] = {
    {"\\r\\n", "\n"},
    {"\\n", "\n"},
    {"\\t", " "},
    {"\\r", "\n"},
    {"\\\"", "\""},
    {"\\'", "'"},
    {"\\/", "/"},
    {"\\u001b", "\x1b"},
    {"\\u001B", "\x1b"},
    {"\\x1b", "\x1b"},
    {"\\x1B", "\x1b"},
    {"\\033", "\x1b"},
    {"\\e", "\x1b"},
    {"\\u00a0", " "},
    {"\\xa0", " "},
    {"^[", "\x1b"},
    {"#033", "\x1b"},
    {"\\u003e", ">"},
    {"&gt;", ">"},
    {"&nbsp;", " "},
    {"&quot;", "\""},
    {"&#39;", "'"},
    {"\xC2\xA0", " "},
    {"\xE2\x80\xAF", " "},
    {"\xE2\x80\x8B", ""},
    {"\xE2\x80\x89", " "},
    {"\xE3\x80\x80", " "},
    {"\xEF\xBB\xBF", ""},
    {"*", ""},
    {"`", ""},
};

// Characters of the borders that rich tracebacks and tables are drawn with, U+2500 to U+257F.
bool is_border(std::string_view text) {
  return text.size() >= 3 && text[0] == '\xE2' && (text[1] == '\x94' || text[1] == '\x95');
}

const Replacement* replaced_at(std::string_view text) {
  for (const Replacement& replacement : kReplacements) {
    if (text.starts_with(replacement.written)) return &replacement;
  }
  return nullptr;
}

// What ends a string of a terminal: BEL, ESC \\, or what stands for them. 0: another ESC, which
// breaks it off; unset: nothing does there.
std::optional<std::size_t> string_end_at(std::string_view text) {
  for (const std::string_view bell : {"\x07", "\\u0007", "\\x07", "\\a"}) {
    if (text.starts_with(bell)) return bell.size();
  }
  const Replacement* const other = text[0] == kEscape ? nullptr : replaced_at(text);
  if (text[0] != kEscape && (other == nullptr || other->meant != "\x1b")) return std::nullopt;
  const std::size_t size = other == nullptr ? 1 : other->written.size();
  if (!text.substr(size).starts_with('\\')) return 0;
  return size + (text.substr(size).starts_with("\\\\") ? 2 : 1);
}

// The size of "]8;;URL" and its like after ESC, with what ends it; 1 where nothing in its line
// does.
std::size_t string_at(std::string_view text) {
  constexpr std::size_t kLongest = 2048;
  for (std::size_t at = 1; at < std::min(text.size(), kLongest) && text[at] != '\n'; ++at) {
    if (const auto end = string_end_at(text.substr(at))) return *end == 0 ? 1 : at + *end;
  }
  return std::min<std::size_t>(text.size(), 1);
}

// The size of "[1;31m" and its like after ESC, or where ESC was lost.
std::size_t colour_at(std::string_view text, bool escaped) {
  constexpr std::string_view kStrings = "]PX^_";
  if (escaped && !text.empty() && kStrings.find(text[0]) != kStrings.npos) return string_at(text);
  if (!text.starts_with('[')) return escaped ? std::min<std::size_t>(text.size(), 1) : 0;
  const std::size_t end = text.find_first_not_of("0123456789;?", 1);
  if (end == text.npos || end > 16) return 0;
  return escaped || (text[end] == 'm' && end > 1) ? end + 1 : 0;
}

constexpr std::array<bool, 256> special_characters() {
  std::array<bool, 256> special{};
  for (const char c : {'\n', '\r', '\x1b', '\\', '[', '^', '#', '&', '*', '`', '\xC2', '\xE2',
                       '\xE3', '\xEF', '\x01', '\x02', '\x03'}) {
    special[static_cast<unsigned char>(c)] = true;
  }
  return special;
}

}  // namespace

const PackedLine& PackedText::line_of(std::size_t at) const {
  const auto after = std::ranges::upper_bound(lines, at, {}, &PackedLine::at);
  return after == lines.begin() ? lines.front() : *std::prev(after);
}

void TextPacker::add(std::string_view text) {
  static constexpr std::array<bool, 256> kSpecial = special_characters();
  const auto is_special = [](char c) { return kSpecial[static_cast<unsigned char>(c)]; };
  while (!text.empty()) {
    const auto plain =
        static_cast<std::size_t>(std::ranges::find_if(text, is_special) - text.begin());
    line_.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    std::size_t size = 1;
    if (text[0] == '\n' || (text[0] == '\r' && !text.starts_with("\r\n"))) {
      end_line(true, text.substr(1));
    } else if (text[0] == kEscape || text[0] == '[') {
      const bool escaped = text[0] == kEscape;
      const std::size_t colour = colour_at(text.substr(escaped ? 1 : 0), escaped);
      size = std::max<std::size_t>(colour + (escaped ? 1 : 0), 1);
      if (colour == 0 && !escaped) line_ += '[';
    } else if (text.starts_with("\\\\")) {
      // An escape that was escaped again.
    } else if (const Replacement* const other = replaced_at(text)) {
      size = other->written.size();
      if (other->meant == "\n") {
        end_line(true, text.substr(size));
      } else if (other->meant == "\x1b") {
        const std::string_view rest = text.substr(size);
        if (rest.starts_with('[') || rest.starts_with(']')) size += colour_at(rest, true);
      } else {
        line_ += other->meant;
      }
    } else if (is_border(text)) {
      size = 3;
      line_ += ' ';
    } else if (text[0] > kLeftOut || text[0] < 0) {
      line_ += text[0];
    }
    text.remove_prefix(size);
  }
}

void TextPacker::end_line(bool whole, std::string_view rest) {
  const bool numbered = is_numbered(line_);
  const bool beside = numbered && (numbered_ || lines_ == 0 || is_numbered(rest));
  const std::string_view sign = sign_of(line_);
  const bool signed_beside = !sign.empty() && (sign == sign_ || sign == sign_of(rest));
  const LinePrefix prefix = prefix_of(line_, beside, signed_beside);
  numbered_ = numbered;
  sign_ = sign;
  if (prefix.rank || !prefix.source.empty() || current_ == nullptr) {
    PackedText& next = by_source_[{prefix.rank, std::string(prefix.source)}];
    const bool goes_on = prefix.size < line_.size() && in_number(line_[prefix.size]);
    // A number that may go on elsewhere is not known.
    if (current_ != nullptr && current_ != &next && goes_on && current_->text.ends_with(kApart)) {
      current_->text.back() = kLeftOut;
    }
    current_ = &next;
  }
  const std::string_view words = std::string_view(line_).substr(prefix.size);
  current_->lines.push_back({current_->text.size(), lines_++, prefix.rank});
  append(*current_, words, !after_empty_);
  if (!whole && current_->text.ends_with(kApart)) current_->text.back() = kLeftOut;
  after_empty_ = std::ranges::all_of(words, is_blank);
  line_.clear();
}

// Marks where a number ends that the next line, or the next word, would make longer.
void TextPacker::append(PackedText& packed, std::string_view line, bool continues) {
  std::string& text = packed.text;
  bool after_blank = false;
  bool begins = true;
  for (const char c : line) {
    if (is_blank(c)) {
      after_blank = true;
      continue;
    }
    if (begins && continues && in_number(c) && text.ends_with(kApart)) text.back() = kWrapped;
    if (!begins && after_blank && in_number(c) && ends_in_number(text)) text += kApart;
    text += c;
    after_blank = begins = false;
  }
  if (ends_in_number(text)) text += kApart;
}

void TextPacker::leave_out(std::string_view text) {
  lines_ += static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
  for (auto& [source, packed] : by_source_) packed.text += kLeftOut;
}

std::vector<PackedText> TextPacker::finish() {
  if (line_.ends_with('\\')) line_.pop_back();  // an escape that is cut off
  if (!line_.empty()) end_line(false, {});
  std::vector<PackedText> all;
  for (auto& [source, packed] : by_source_) {
    all.push_back(std::move(packed));
  }
  by_source_.clear();
  current_ = nullptr;
  return all;
}

}  // namespace memreplay
