#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace memreplay {

/// What is there to choose from?
struct ListQuestion {
  enum class What { strategies, formats, metrics, cards, workloads };
  What what = What::strategies;
  std::optional<std::string>
      name;  ///< that one alone: a strategy's or workload's options, a format's columns
};

/// What is registered, a row each.
struct ListAnswer {
  std::string what;  ///< "strategies"
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows;
  /// The strategy or workload whose options the rows are, if they are.
  std::string options_of;
  std::string summary;
  std::string note;  ///< what is to be known about the rows; empty: nothing
  /// The named columns of one format: name, other names, meaning.
  std::vector<std::array<std::string, 3>> columns;
};

/// Throws UsageError for an unknown name, with the nearest.
ListAnswer answer(const ListQuestion& question);

}  // namespace memreplay
