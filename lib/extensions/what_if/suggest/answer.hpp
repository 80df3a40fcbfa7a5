#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metrics/run_metrics.hpp"
#include "questions/info/answer.hpp"
#include "run/answer.hpp"
#include "run/setup.hpp"
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
  std::string package;             ///< whose code it is: "torchvision"; empty: the program's own
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
  /// What was recorded, and beside it what is still to come, runs in the budget, whatever the edits
  /// leave open.
  bool serves = false;
  /// The whole program does. Unset: unknown, since the recording ends before it.
  std::optional<bool> fits;
  bool at_least = false;  ///< the figures are of what was recorded
  Bytes peak_requested = 0;
  Bytes peak_reserved = 0;
  std::optional<RunInterval> interval;
  std::uint64_t retries = 0;  ///< on the budget, without which it does not fit; for the likeliest
  Bytes recomputed = 0;       ///< asked for a second time
  std::uint64_t recomputed_requests = 0;
  Bytes moved = 0;  ///< to the host and back
  Bytes saved = 0;  ///< reserved at most: less than the program as it is under the first strategy
  /// Beyond the recording. Where it ends at the OOM of its first step: gradients, what an optimizer
  /// keeps, and what is computed again at a time. Where that of a later step: a share by which its
  /// rest may differ from the step before.
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

/// The rest of the step in which a recording ends.
enum class RestOfStep : std::uint8_t {
  recorded,   ///< there is none, or none that needs more memory
  as_before,  ///< it is assumed to be that of the step before
  unknown,
};

/// The suggestions for one device of a recording.
struct SuggestedDevice {
  TraceSummary trace;
  DeviceSummary device;  ///< its capacity is the budget
  /// Each edit once, those that fit first, the cheapest first.
  std::vector<Suggestion> suggestions;
  RestOfStep rest = RestOfStep::recorded;
  bool nothing_requested = false;  ///< in the recording: there is nothing to try
  std::uint64_t tried = 0;         ///< edits, each under each strategy
  SearchedSettings settings;
  std::uint64_t layers = 0;  ///< code that runs several times in a forward pass
  Bytes parameters = 0;      ///< the program's, inferred from their lifetimes

  /// Null: none is known to fit.
  const Suggestion* best() const {
    const bool known = !suggestions.empty() && suggestions.front().fits.value_or(false);
    return known ? &suggestions.front() : nullptr;
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
