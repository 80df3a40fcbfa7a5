#pragma once

#include <functional>
#include <vector>

#include "analysis/recorded/inputs.hpp"
#include "analysis/run/run.hpp"

namespace memreplay {

/// What happens to recordings under these strategies?
struct ReplayQuestion {
  /// The strategies where nobody names one.
  enum class Usual {
    recorded,  ///< that of the recording alone, see usual_strategy
    presets,   ///< the families between which people choose
    page,      ///< that of the recording and two to lay beside it
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

}  // namespace memreplay
