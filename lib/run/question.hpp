#pragma once

#include <functional>
#include <vector>

#include "program/rewrite.hpp"
#include "run/inputs.hpp"
#include "run/run.hpp"

namespace memreplay {

/// What happens to recordings under these strategies?
struct ReplayQuestion {
  /// The strategies where nobody names one.
  enum class Usual {
    recorded,  ///< that of the recording alone, see usual_strategy
    presets,   ///< the families between which people choose
  };
  std::vector<StrategySpec> strategies;  ///< empty: the usual ones
  Usual usual = Usual::recorded;
  Setup setup;
  bool ranked = false;         ///< laid side by side
  bool torch_summary = false;  ///< with each run's memory_summary()
};

/// What is called while the runs of an answer are made; what is unset is not.
struct RunsProgress {
  /// Once, before anything is replayed. Throws UsageError where there is no place for so many.
  std::function<void(const Inputs&, std::size_t runs)> expect;
  /// Before the runs on a trace.
  std::function<void(const Chosen&, const Subject&)> begin_trace;
  /// After a run was judged; what is not needed any more may be taken out of it.
  std::function<void(const Chosen&, Run&)> judged;
  /// Hears of every run; null: of none, and some need fewer replays then.
  Watcher* watcher = nullptr;
};

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
