#pragma once

#include <optional>
#include <string>

namespace memreplay {

/// What is there to choose from?
struct ListQuestion {
  enum class What { strategies, formats, metrics, cards, workloads };
  What what = What::strategies;
  std::optional<std::string>
      name;  ///< that one alone; of a strategy or workload its options, of a format its columns
};

}  // namespace memreplay
