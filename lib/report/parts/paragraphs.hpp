#pragma once

#include <string>
#include <string_view>

#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

/// A text that grows line by line, laid out for a style.
class Sheet {
 public:
  explicit Sheet(const TextStyle& style) : style_(style) {}

  const TextStyle& style() const { return style_; }
  std::size_t width() const { return style_.width; }
  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }

  /// As it is.
  Sheet& operator+=(std::string_view text) {
    text_ += text;
    return *this;
  }
  Sheet& operator+=(char c) {
    text_ += c;
    return *this;
  }

 private:
  TextStyle style_;
  std::string text_;
};

/// Appends a text as lines, each after `indent` blanks. What follows a line break in it is a
/// command: on a line of its own, never broken. An empty text adds nothing. In Markdown it is one
/// line and an empty one.
void append_paragraph(Sheet& out, std::string_view text, std::size_t indent = 1);

void append_table(Sheet& out, const Table& table);

/// Says an answer again at the end of a text that has scrolled it away; `before` lines were there.
void append_answer_again(Sheet& out, std::string_view answer, std::size_t before = 0);

/// As a shell takes it for one word, quoted where it must be.
std::string shell_word(std::string_view text);
/// A file's path as a shell and a program take it: none begins like an option.
std::string path_word(std::string_view path);

}  // namespace memreplay
