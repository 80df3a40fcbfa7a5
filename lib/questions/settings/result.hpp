#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/torch_sizes.hpp"
#include "metrics/run_metrics.hpp"
#include "program/verdict.hpp"
#include "run/answer.hpp"

namespace memreplay {

enum class Objective {
  reserved,
  calls,
  retries,
  full_device,  ///< retries, then reserved bytes: by default where the device was full
};

/// The options that a search varies: for PyTorch's allocator those that decide over placement, zero
/// standing for the default of each, or another strategy's own.
struct Setting {
  bool expandable_segments = false;
  std::uint64_t max_split_size_mb = 0;
  std::uint64_t max_non_split_rounding_mb = 0;
  std::uint64_t large_segment_size_mb = 0;
  std::uint32_t garbage_collection_percent = 0;
  torch::RoundupTable roundup_power2_divisions{};
  /// Options of another strategy, by key; the above are defaults then.
  std::vector<std::pair<std::string, std::string>> of_another{};

  friend auto operator<=>(const Setting&, const Setting&) = default;
};

/// A setting as it stands in PYTORCH_CUDA_ALLOC_CONF, read alike by every release, or in a strategy
/// that a person writes; `kept`, a configuration too, in front. Empty: the defaults.
std::string conf_of(const Setting& setting, const std::string& kept);

/// What one setting, and all that are like it, came to on every trace.
struct TuneOutcome {
  std::vector<Setting> settings;  ///< all tried that give it, the simplest first
  std::vector<Run> runs;          ///< by trace, of the first setting
  bool pareto = false;   ///< nothing tried is better in one respect and not worse in another
  bool weighed = false;  ///< what came before late recordings was estimated, as far as it matters

  /// Over all traces: OOMs, retries and device calls add up, of the reserved peaks the highest.
  RunSoFar total() const;
  /// The recordings determine all of its figures.
  bool is_exact() const;
  /// Some of its figures are estimates with an interval.
  bool estimated() const;
  /// The interval of the highest reserved peak; its ends are equal where nothing was estimated.
  BytesInterval peak_interval() const;
  /// Its peaks are lower bounds: some recording ends early.
  bool at_least() const;
  /// No trace runs out of memory, nor do the steps before one that starts late, as far as is known.
  bool serves() const;
};

/// What a search over settings found.
struct TuneResult {
  std::string strategy = "torch";  ///< whose settings
  /// "recorded", or "torch" where nothing is recorded; for another strategy the one asked for.
  std::string baseline;
  std::string baseline_conf;  ///< its configuration
  TuneOutcome baseline_outcome;
  /// The baseline without the calls of empty_cache that were inserted; unset where none were.
  std::optional<TuneOutcome> without_insertions;
  std::vector<TuneOutcome> outcomes;  ///< distinct ones, by rank; none: cancelled at once
  /// Which of them to recommend: the simplest that comes within a hundredth of the first.
  std::size_t best = 0;
  std::string kept;  ///< configuration of those recorded options that were left alone
  std::string release;
  std::string variable;  ///< where PyTorch's setting is to be written
  std::string as_set;    ///< the line that sets `best` of another strategy in its original
  Objective objective = Objective::reserved;
  std::uint64_t tried = 0;       ///< settings whose outcome is known or ruled out
  std::uint64_t replayed = 0;    ///< settings replayed; the others are provably like one of these
  std::uint64_t abandoned = 0;   ///< replays ended early: another one is better throughout
  bool every_split_size = true;  ///< no value of max_split_size_mb alone is left
  bool finished = true;          ///< neither cancelled nor out of time
  /// The first request that no setting serves: with what is live it is more than there is.
  std::optional<RequestInRoom> shortage;
  bool none_serves = false;  ///< no setting tried serves every request, and nor does the baseline

  /// What is recommended is better than the baseline by more than a hundredth, or serves every
  /// request as the baseline does not; for late recordings whatever came before.
  bool helps = false;

  /// The configuration of an outcome's simplest setting.
  std::string conf(const TuneOutcome& outcome) const {
    return conf_of(outcome.settings.front(), kept);
  }
};

/// Whether a recommendation survives that recordings which start late do not determine it.
struct LateVerdict {
  enum class Kind {
    not_late,        ///< no recording starts late, or the objective is calls or retries
    supported,       ///< better than the baseline by the whole interval, or serves what it does not
    undecided,       ///< better by the estimates, but not by the whole interval: likely
    nothing_better,  ///< not by more than a hundredth
    interrupted,     ///< cancelled before that was known
  };
  Kind kind = Kind::not_late;
  BytesInterval best;         ///< reserved peak of what is recommended, or would have been
  BytesInterval baseline;     ///< and of the baseline
  std::string setting;        ///< that of `best`, as a configuration
  std::uint64_t weighed = 0;  ///< outcomes that were estimated
  std::uint64_t open = 0;     ///< outcomes that the recordings do not determine
  /// Larger steps than any recorded one came before, as far as was looked.
  bool larger_before = false;
};

}  // namespace memreplay
