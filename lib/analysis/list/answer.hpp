#pragma once

#include <string>
#include <vector>

namespace memreplay {

struct ListQuestion;

/// What is registered, a row each.
struct ListAnswer {
  std::string what;  ///< "strategies"
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows;
  /// Of one strategy, whose options the rows are; empty else.
  std::string strategy;
  std::string summary;
};

/// Throws UsageError for an unknown name, with the nearest.
ListAnswer answer(const ListQuestion& question);

}  // namespace memreplay
