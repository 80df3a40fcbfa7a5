#include "report/parts/text_style.hpp"

#include <fmt/format.h>

namespace memreplay {

std::string bold(std::string_view text, const TextStyle& style) {
  return style.colour ? fmt::format("\033[1m{}\033[0m", text) : std::string(text);
}

std::string red(std::string_view text, const TextStyle& style) {
  return style.colour ? fmt::format("\033[31m{}\033[0m", text) : std::string(text);
}

}  // namespace memreplay
