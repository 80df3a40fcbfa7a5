#pragma once

#include <optional>

#include "core/control.hpp"
#include "replay/trial.hpp"
#include "replay/watch/outputs.hpp"
#include "run/answer.hpp"
#include "run/devices.hpp"
#include "run/late_start/late_start.hpp"
#include "run/setup.hpp"

namespace memreplay {

/// How a replay of this trace is set up. Throws UsageError where the trace lacks what is asked for.
ReplayOptions replay_options(const Trace& trace, const Setup& setup, const Control& control);

/// `options` with the device, and with what the setup says of its use.
ReplayOptions on_device(ReplayOptions options, const OpenDevice& device, const Setup& setup);

/// Replays a strategy on a device and judges what it came to: the only place that says how exact a
/// replay is and what stands for the figures of one that starts late. `late` is of this subject and
/// setup. Where its start leaves the result open, the figures are estimates with an interval, and
/// `watcher` (may be null) sees the replay that comes nearest. Costs one replay, or as many as are
/// asked for, and an estimate; of several, the watcher sees the first that counts. Throws as Trial
/// does.
Run run(const Subject& subject, const StrategySpec& spec, const OpenDevice& device,
        const Setup& setup, const LateStart& late, Watcher* watcher, const Control& control);

/// Judges a replay that was made on the way to an answer, as `run` does, on a simulated device of
/// `room` bytes (unset: endless). An estimate, where one is given, takes the place of its figures.
Run judged(const Contender& contender, const Setup& setup, std::optional<Bytes> room,
           ReplayResult result, const std::optional<WarmEstimate>& estimate);

/// Judges a replay from the recorded start that cannot be made again, as `run` does. Where its
/// start leaves the result open, its figures are estimates.
Run judged(const Contender& contender, const OpenDevice& device, const Setup& setup,
           const LateStart& late, ReplayResult result);

/// Puts an estimate, which stands for a late start, in the place of the figures of a judged run.
void enter(const WarmEstimate& estimate, Run& run);

}  // namespace memreplay
