#pragma once

#include <string>

#include "strategy/registry.hpp"
#include "trace/trace.hpp"
#include "verify/verdict.hpp"

namespace memreplay {

/// The strategy of pinned host memory with what a setting of PyTorch says of it.
StrategySpec pinned_strategy(const std::string& conf);

/// Does the model of PyTorch's pinned memory give every recorded block and its driver calls?
VerifyRun verify_pinned(const Recording& recording, const Trace& trace);

}  // namespace memreplay
