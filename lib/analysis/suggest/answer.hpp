#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/info/answer.hpp"
#include "analysis/run/answer.hpp"
#include "analysis/run/setup.hpp"
#include "metrics/run_metrics.hpp"
#include "strategy/registry.hpp"

namespace memreplay {

/// Which edits of a program would make it fit, and at what price?
struct SuggestQuestion {
  std::optional<Bytes> budget;  ///< unset: the device of a recorded failure
  /// Empty: that of the recording, and where it is PyTorch's, expandable segments and searched
  /// settings too.
  std::vector<StrategySpec> strategies;
  bool checkpoint = true;  ///< what is computed again may be suggested
  bool offload = true;     ///< what is moved out and in again
  /// Copies of the parameters that the optimizer will keep, where the recording ends before its
  /// first step: 2 of Adam, 1 of momentum.
  std::uint32_t states = 2;
  Setup setup;
};

struct Control;
class Inputs;
struct SuggestQuestion;

/// An edit, and the code of the program that it is about.
struct SuggestedEdit {
  enum class Kind : std::uint8_t { checkpoint, offload };

  std::string text;  ///< as --edit takes it
  Kind kind = Kind::checkpoint;
  std::string code;                ///< "models.py:47-49"; empty: the whole forward pass
  std::string function;            ///< the code's function: "forward"
  std::vector<std::string> calls;  ///< lines that call it: "models.py:80"
  bool called_directly = true;     ///< through no other code, such as torch.nn.Sequential
  std::uint32_t only = 1;          ///< only its runs 0, N, 2N, …
  std::uint32_t group = 1;         ///< so many successive runs as one
};

/// Edits of a program under the strategy that suits them best, and what they come to.
struct Suggestion {
  std::vector<SuggestedEdit> edits;  ///< none: the program as it is
  std::string strategy;              ///< as -s takes it
  std::string conf;                  ///< the same as PyTorch reads it, where it was searched
  bool fits = false;                 ///< in the budget, whatever the edits leave open
  Bytes peak_requested = 0;
  Bytes peak_reserved = 0;
  std::optional<RunInterval> interval;
  std::uint64_t retries = 0;  ///< on the budget, without which it does not fit; for the likeliest
  Bytes recomputed = 0;       ///< asked for a second time
  std::uint64_t recomputed_requests = 0;
  Bytes moved = 0;  ///< to the host and back
  Bytes saved = 0;  ///< reserved at most: less than the program as it is under the first strategy
  /// Beyond the recording, which ends at the failure of its first step: gradients, what an
  /// optimizer keeps, and what is computed again at a time.
  Bytes still_to_come = 0;

  std::vector<std::string> remarks;  ///< what the edits leave out, sentences

  Bytes price() const { return recomputed + moved; }
};

/// Settings of PyTorch's allocator that were tried where the usual ones do not suffice.
struct SearchedSettings {
  std::uint64_t tried = 0;
  std::uint64_t programs = 0;  ///< for how many
  std::uint64_t left = 0;      ///< programs that may fit under another one, but were too many
  std::string variable;        ///< where PyTorch reads them
};

/// The suggestions for one device of a recording.
struct SuggestedDevice {
  TraceSummary trace;
  DeviceSummary device;  ///< its capacity is the budget
  /// Each edit once, those that fit first, the cheapest first.
  std::vector<Suggestion> suggestions;
  bool ends_at_oom = false;  ///< in its first step
  /// The rest of the step in which it failed is that of the step before.
  bool completed = false;
  std::uint64_t tried = 0;  ///< edits, each under each strategy
  SearchedSettings settings;
  std::uint64_t layers = 0;  ///< code that runs several times in a forward pass
  Bytes parameters = 0;      ///< the program's, inferred from their lifetimes

  const Suggestion* best() const {
    return suggestions.empty() || !suggestions.front().fits ? nullptr : &suggestions.front();
  }
};

struct SuggestAnswer {
  std::vector<SuggestedDevice> devices;
  bool interrupted = false;

  bool all_fit() const;
};

/// Tries checkpoints around every code of the program that runs several times a forward pass, in
/// several ways, and offloading what it saves; together where neither suffices. A replay for each,
/// for each strategy and each guess. Where no strategy was named and those of the recording do not
/// suffice, settings of PyTorch's allocator are searched, the cheapest edits first, until some fit:
/// see FittingSettings for what that costs. Throws UsageError where no budget is known.
SuggestAnswer answer(const Inputs& inputs, const SuggestQuestion& question, const Control& control);

}  // namespace memreplay
