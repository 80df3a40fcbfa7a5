#pragma once

#include <string>
#include <string_view>

#include "report/parts/table.hpp"

namespace memreplay {

/// The text with what would be markup made harmless, also inside of quotes.
std::string escaped(std::string_view text);

std::string html_table(const Table& table, std::string_view caption);

/// <NAME>escaped text</NAME>, with a class where one is given.
std::string html_text(std::string_view name, std::string_view text, std::string_view kind = {});

}  // namespace memreplay
