#pragma once

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

/// Watches the runs of an answer.
class RunsWatcher : public RunWatcher {
 public:
  /// Whether runs are to be watched at all. A run that nobody watches may need fewer replays.
  virtual bool wants_runs() const { return true; }
  /// Once, before anything is replayed. Throws UsageError where there is no place for so many.
  virtual void expect(const Inputs& /*inputs*/, std::size_t /*runs*/) {}
  /// Before the runs on a trace.
  virtual void begin_trace(const Chosen& /*chosen*/, const Subject& /*subject*/) {}
  /// After a run was judged; what is not needed any more may be taken out of it.
  virtual void judged(const Chosen& /*chosen*/, Run& /*run*/) {}
};

}  // namespace memreplay
