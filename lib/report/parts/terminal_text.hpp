#pragma once

#include <string>
#include <string_view>

#include "report/parts/text_style.hpp"

namespace memreplay {

/// A text as it may reach a terminal. Emphasis becomes the terminal's colours where the style has
/// them; every other control character but newlines and tabs, and what is no UTF-8, is written as
/// \x1b or \u202e. Where the style is not of Unicode the text becomes ASCII: … is ..., ≈ is ~, a
/// letter that has no likeness is \u00e9. Columns after what became longer stay in place as far as
/// there are blanks.
std::string terminal_text(std::string_view text, const TextStyle& style);

/// Likewise for a text that must stay one line: line breaks are written out too, as \x0a.
std::string terminal_line(std::string_view text, const TextStyle& style);

}  // namespace memreplay
