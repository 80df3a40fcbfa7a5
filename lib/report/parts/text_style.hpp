#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace memreplay {

/// How text is to look on a terminal.
struct TextStyle {
  bool colour = false;      ///< adds emphasis only
  bool unicode = false;     ///< plots may be drawn with more than ASCII
  bool markdown = false;    ///< tables are Markdown's, paragraphs unbroken and apart
  std::size_t width = 100;  ///< columns that a line may take
  std::size_t height = 0;   ///< lines that a screen shows at once; 0: nobody looks at one
};

/// Emphasis in the colours of a terminal, or the text as it is. Marked by characters that are none,
/// U+FDD0 and the next ones, which terminal_text makes the terminal's own: escapes that stand in
/// names of a recording are told apart so.
std::string bold(std::string_view text, const TextStyle& style);
std::string red(std::string_view text, const TextStyle& style);

/// A text as it may reach a terminal. Emphasis becomes the terminal's colours where the style has
/// them; every other control character but newlines and tabs, and what is no UTF-8, is written as
/// \x1b or \u202e. Where the style is not of Unicode the text becomes ASCII: … is ..., ≈ is ~, a
/// letter that has no likeness is \u00e9. Columns after what became longer stay in place as far as
/// there are blanks.
std::string terminal_text(std::string_view text, const TextStyle& style);

/// Likewise for a text that must stay one line: line breaks are written out too, as \x0a.
std::string terminal_line(std::string_view text, const TextStyle& style);

}  // namespace memreplay
