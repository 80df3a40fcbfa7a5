#pragma once

#include <optional>

#include "analysis/minimise/question.hpp"
#include "analysis/recorded/inputs.hpp"
#include "analysis/run/setup.hpp"
#include "strategy/registry.hpp"

namespace memreplay {

/// What does a recording become in another file?
struct ConvertQuestion {
  InputOptions input;                        ///< one path
  std::optional<StrategySpec> strategy;      ///< unset: as recorded
  std::optional<MinimiseQuestion> minimise;  ///< unset: the whole recording
  Setup setup;                               ///< how it is replayed
  bool anonymise = false;
  bool with_addresses = true;  ///< the target holds them; a replay gives those that are missing
  bool one_device = false;     ///< the target holds no more
};

}  // namespace memreplay
