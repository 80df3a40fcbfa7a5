#pragma once

#include <optional>
#include <string>

namespace memreplay {

/// What is there to choose from?
struct ListQuestion {
  enum class What { strategies, formats, metrics, cards, workloads };
  What what = What::strategies;
  std::optional<std::string>
      name;  ///< that one alone: a strategy's or workload's options, a format's columns
};

}  // namespace memreplay
