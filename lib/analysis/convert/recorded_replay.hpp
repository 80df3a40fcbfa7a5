#pragma once

#include <vector>

#include "replay/trial.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// One device of a recording, replayed.
struct RecordedReplay {
  Trace trace;
  ReplayResult result;
};

/// Replays the subject under `spec` and records it. `charged` sizes and settings are those of the
/// strategy. Throws as Trial does.
RecordedReplay record_replay(const Subject& subject, const StrategySpec& spec, TrialOptions options,
                             ReplayOptions replaying);

/// The PyTorch snapshot of these replays, all of the subject's recording under `spec`: stacks,
/// texts and annotations are kept, the settings are those of the replay where it was under
/// PyTorch's allocator.
Recording snapshot_of(const Subject& subject, const StrategySpec& spec, std::vector<Trace> replays);

}  // namespace memreplay
