#include "report/parts/text_style.hpp"

#include <fmt/format.h>

namespace memreplay {

std::string bold(std::string_view text, const TextStyle& style) {
  return style.colour ? fmt::format("\uFDD1{}\uFDD0", text) : std::string(text);
}

std::string red(std::string_view text, const TextStyle& style) {
  return style.colour ? fmt::format("\uFDD2{}\uFDD0", text) : std::string(text);
}

}  // namespace memreplay
