#pragma once

#include <string>

#include "analysis/explain/answer.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {

/// A place for a table: names of C++ functions can be longer than a line.
std::string shortened(const std::string& place);

/// The callers of what is live; small branches in one row each. Empty where no tree was asked for.
std::string tree_text(const Explanation& e);
/// All of it.
Json tree_json(const Explanation& e);

}  // namespace memreplay
