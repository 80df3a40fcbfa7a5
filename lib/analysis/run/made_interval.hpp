#pragma once

#include "analysis/edit/made_recording.hpp"
#include "analysis/run/run.hpp"

namespace memreplay {

/// The interval with a figure that is `there` in the replay of one of the others, and with what it
/// reaches.
void span_figure(BytesInterval& interval, Bytes likeliest, const MadeRecording& other, Bytes there);

/// With what is open of each of them (see MadeRecordings).
BytesInterval opened(const BytesInterval& reserved, const MadeRecordings& made);

/// A replay of a made recording. `setup` shapes no device: that is `device`.
Run run_made(const MadeRecording& made, const StrategySpec& spec, const OpenDevice& device,
             const Setup& setup, const Control& control);

/// The likeliest one's run, with the interval that the others span.
Run run_with_others(const MadeRecordings& made, const StrategySpec& spec, const OpenDevice& device,
                    const Setup& setup, const Control& control);

/// What the other recordings that may have been made come to under the same strategy, beside the
/// likeliest one's run: its interval. Changes nothing where there are none. A replay for each.
void span_others(const MadeRecordings& made, const StrategySpec& spec, const OpenDevice& device,
                 const Setup& setup, const Control& control, Run& likeliest);

}  // namespace memreplay
