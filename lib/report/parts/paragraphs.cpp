#include "report/parts/paragraphs.hpp"

#include <algorithm>

namespace memreplay {

void append_paragraph(Sheet& out, std::string_view text, std::size_t indent) {
  if (text.empty()) return;
  if (out.style().markdown) {
    out += text;
    out += "\n\n";
    return;
  }
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string margin(indent, ' ');
  out += margin + wrapped(text.substr(0, end), indent, out.width()) + '\n';
  for (text.remove_prefix(end); !text.empty();) {
    text.remove_prefix(1);
    const std::size_t length = std::min(text.find('\n'), text.size());
    out += margin + "  ";
    out += text.substr(0, length);
    out += '\n';
    text.remove_prefix(length);
  }
}

void append_table(Sheet& out, const Table& table) {
  out += out.style().markdown ? markdown_table(table) : text_table(table, out.width());
}

void append_answer_again(Sheet& out, std::string_view answer, std::size_t before) {
  constexpr std::size_t kPrompt = 2;  // and the line of the command itself
  const auto lines = static_cast<std::size_t>(std::ranges::count(out.text(), '\n')) + before;
  if (out.style().height == 0 || lines + kPrompt <= out.style().height) return;
  out += "\n " + bold(wrapped(answer, 1, out.width()), out.style()) + '\n';
}

std::string path_word(std::string_view path) {
  return shell_word(path.starts_with('-') ? "./" + std::string(path) : std::string(path));
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace memreplay
