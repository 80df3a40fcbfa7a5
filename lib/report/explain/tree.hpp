#pragma once

#include <string>

#include "analysis/explain/answer.hpp"
namespace memreplay {

class JsonFields;

/// A place for a table: names of C++ functions can be longer than a line.
std::string shortened(const std::string& place);

/// The callers of what is live; small branches in one row each. Empty where no tree was asked for.
std::string tree_text(const Explanation& e);
/// A branch, with what it calls.
void fields(JsonFields& f, const CallNode& node);

}  // namespace memreplay
