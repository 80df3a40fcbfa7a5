#pragma once

#include <string>

#include "report/parts/table.hpp"

namespace memreplay {

/// Appends a text as lines of at most 100 columns, each behind `indent` blanks. An empty text adds
/// nothing.
inline void append_paragraph(std::string& out, const std::string& text, std::size_t indent = 1) {
  if (!text.empty()) out += std::string(indent, ' ') + wrapped(text, indent) + '\n';
}

}  // namespace memreplay
