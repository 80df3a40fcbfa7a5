#include "report/parts/escapes.hpp"

#include <algorithm>

namespace memreplay {
namespace {

bool is_word(char c) {
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') ||
         (c & 0x80) != 0;
}

std::string on_one_line(std::string_view text) {
  std::string line = visible_text(text);
  std::ranges::replace(line, '\n', ' ');
  return line;
}

/// One line's.
class MarkdownLine {
 public:
  explicit MarkdownLine(std::string_view line) : line_(line) {}

  /// `begins`: it is a whole one.
  std::string escaped(bool begins) const {
    std::string out;
    const std::size_t block = begins ? block_mark() : line_.npos;
    for (std::size_t i = 0; i < line_.size(); ++i) {
      const char c = line_[i];
      if (makes_reference(i)) {
        out += std::string("`") + c + '`';  // what stands in code is neither linked nor told
        continue;
      }
      if (i == block || is_mark(i)) out += '\\';
      out += c;
    }
    return out;
  }

 private:
  char before(std::size_t i) const { return i > 0 ? line_[i - 1] : ' '; }
  char after(std::size_t i) const { return i + 1 < line_.size() ? line_[i + 1] : ' '; }

  bool makes_reference(std::size_t i) const {
    return (line_[i] == '@' || line_[i] == '#') && is_word(after(i));
  }

  bool is_mark(std::size_t i) const {
    switch (line_[i]) {
      case '\\':
      case '`':
      case '*':
      case '[':
      case '<':
      case '|':
      case '~':
      case '$':
        return true;
      case '&':
        return is_word(after(i)) || after(i) == '#';
      case '_':
        return !is_word(before(i)) || !is_word(after(i));
      case '/':  // an address's, which becomes a link by itself
        return before(i) == ':' && after(i) == '/';
      case '.':
        return i >= 3 && line_.substr(i - 3, 3) == "www";
      default:
        return false;
    }
  }

  /// Where a character makes a list, a heading or a quotation of the line; npos: nowhere.
  std::size_t block_mark() const {
    const std::size_t first = line_.find_first_not_of(" \t");
    if (first == line_.npos) return line_.npos;
    const char c = line_[first];
    const bool ends = after(first) == ' ' || after(first) == '\t' || after(first) == c;
    if (c == '>' || c == '=' || ((c == '#' || c == '-' || c == '+') && ends)) return first;
    const std::size_t digits = std::min(line_.find_first_not_of("0123456789", first), line_.size());
    if (digits == first || digits == line_.size()) return line_.npos;
    return (line_[digits] == '.' || line_[digits] == ')') && after(digits) == ' ' ? digits
                                                                                  : line_.npos;
  }

  std::string_view line_;
};

}  // namespace

std::string markup_text(std::string_view text) {
  std::string out;
  for (const char c : visible_text(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string markdown_text(std::string_view text) {
  const std::string visible = visible_text(text);
  std::string out;
  for (std::size_t at = 0; at <= visible.size();) {
    const std::size_t end = std::min(visible.find('\n', at), visible.size());
    if (at > 0) out += '\n';
    out += MarkdownLine(std::string_view(visible).substr(at, end - at)).escaped(true);
    at = end + 1;
  }
  return out;
}

std::string markdown_words(std::string_view text) {
  const std::string line = on_one_line(text);
  return MarkdownLine(line).escaped(false);
}

std::string markdown_code(std::string_view text) {
  std::string code = on_one_line(text);
  std::ranges::replace(code, '`', '\'');
  return '`' + code + '`';
}

}  // namespace memreplay
