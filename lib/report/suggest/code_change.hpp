#pragma once

#include <string>
#include <vector>

#include "analysis/suggest/answer.hpp"

namespace memreplay {

/// What to write into a program for an edit.
struct CodeChange {
  std::string what;                 ///< "checkpoint forward where models.py:80 calls it"
  std::vector<std::string> python;  ///< three lines, the names of variables made up
};

CodeChange code_change(const SuggestedEdit& edit);

}  // namespace memreplay
