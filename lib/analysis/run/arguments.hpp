#pragma once

#include <string>

#include "core/text.hpp"

namespace memreplay {

/// A size as a command line takes it, to the byte: "24GiB", "1000".
inline std::string size_argument(Bytes size) {
  std::string text = exact_size(size);
  std::erase(text, ' ');
  return text;
}

}  // namespace memreplay
