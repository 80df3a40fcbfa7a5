#pragma once

#include <string>
#include <string_view>

#include "report/parts/table.hpp"

namespace memreplay {

// Names come from recordings and folders: each text leaves us through the function for where it
// goes. Those for a terminal are in text_style.hpp.

/// A text in which every name may be shown: control characters but newlines and tabs, what turns
/// the direction of a text around, and what is no UTF-8, are written as \x1b or \u202e. The others
/// are made of it.
std::string visible_text(std::string_view text);

/// For HTML and XML, also inside of quotes.
std::string markup_text(std::string_view text);

/// A text that Markdown, as GitHub has it, shows as it is: no emphasis, link, picture, element,
/// formula, mention, reference or column begins in it. Each of its lines stays one, and begins no
/// list, heading or quotation.
std::string markdown_text(std::string_view text);

/// Likewise, on one line: in the middle of one, or a cell of a table.
std::string markdown_words(std::string_view text);

/// A text as code, on one line.
std::string markdown_code(std::string_view text);

/// markdown_table of cells that are Markdown already: words of ours, and names as code.
std::string table_of_markdown(const Table& table);

}  // namespace memreplay
