#pragma once

#include <string_view>
#include <utility>

#include "replay/trial.hpp"
#include "replay/watch/holding_log.hpp"
#include "support/real_memories.hpp"

namespace memreplay {

struct Outcome {
  RunMetrics metrics;
  bool finished = false;
  bool started_exact = false;
  HoldingLog holdings;
};

/// On `memory`, every byte touched, or in simulation where it is null.
inline Outcome run(const Recording& recording, std::string_view strategy, Bytes capacity,
                   Bytes granule, RealMemory* memory, ReplayOptions replaying = {}) {
  const Subject subject(recording, recording.traces.front());
  const StrategySpec spec = parse_strategy(strategy);
  replaying.device = {.capacity = capacity, .granularity = granule};
  replaying.memory = memory;
  replaying.touch = memory ? Touch::all : Touch::none;
  replaying.timed = memory != nullptr;
  Trial trial(Contender(subject, spec, replaying.program), replaying);
  Outcome outcome;
  ReplayResult result = trial.run(&outcome.holdings);
  outcome.metrics = std::move(result.metrics);
  outcome.finished = result.finished;
  outcome.started_exact = result.started_exact;
  return outcome;
}

}  // namespace memreplay
