#pragma once

#include <string>
#include <string_view>

#include "report/parts/table.hpp"

namespace memreplay {

std::string html_table(const Table& table, std::string_view caption);

/// <NAME>escaped text</NAME>, with a class where one is given.
std::string html_text(std::string_view name, std::string_view text, std::string_view kind = {});

/// A page without scripts, light and dark, up to its heading. What such pages share: `bound` of
/// lines, `quiet` of text, and --c0 to --c7, colours that are told apart whoever looks (Okabe,
/// Ito). `style` is added to it.
std::string page_beginning(std::string_view title, std::string_view style,
                           std::string_view heading);
inline constexpr std::string_view kPageEnd = "</body>\n</html>\n";

}  // namespace memreplay
