#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/option_info.hpp"
#include "core/plan.hpp"
#include "core/recorded_settings.hpp"
#include "strategy/strategy.hpp"

namespace memreplay {

/// A strategy as a person writes it: NAME[@VALUE](INNER,…):key=value,…
struct StrategySpec {
  std::string text;  ///< as it was given
  std::string name;
  std::vector<StrategySpec> inner;
  std::vector<std::pair<std::string, std::string>> options;  ///< brackets kept: "[256:1,>:8]"
  /// The PyTorch whose rules hold where no option names one, for those inside too; empty: unknown.
  std::string release = {};
};

/// What a strategy may look at when it is made.
struct StrategyContext {
  DeviceModel& device;
  std::optional<Bytes> capacity = {};              ///< the device's; unset: endless
  const RecordedSettings* recorded = nullptr;      ///< settings of the recording to be replayed
  std::span<const PoolId> pools = {};              ///< names of the recording's pools, by index
  std::span<const PoolOptions> pool_options = {};  ///< their options; missing ones are plain
  std::span<const std::string> texts = {};         ///< texts of the recording, by number
  std::shared_ptr<const Plan> plan = {};           ///< what `plan_for` asked for
  std::uint64_t uses = 1;                          ///< --uses of a block after it was moved out
  bool wrapped = false;                            ///< it is made inside of another strategy
};

/// A name by which people look for a strategy, and the options that are meant by it.
struct OtherName {
  std::string_view name;  ///< in small letters
  std::string_view options = {};
};

/// A row of `compare` where nobody names a strategy.
struct Preset {
  std::string_view options = {};
  /// Rows go by it, then by strategies.def: 1 frameworks, 2 pools of drivers and libraries,
  /// 3 general designs, 4 special ones, 5 plans; 0: no row.
  unsigned group = 0;
  unsigned pinned_group = 0;  ///< the same for a recording of pinned host memory
  /// The options on a device with this room, unset: endless; where it returns none, no row.
  std::string (*options_for)(std::optional<Bytes> room) = nullptr;
};

/// How a strategy registers itself (strategies.def).
struct StrategyInfo {
  std::string_view name;
  std::string_view summary;  ///< one sentence
  std::vector<OptionInfo> options;
  /// Throws UsageError for a value that is not valid. Keys were checked against `options` before.
  std::unique_ptr<Strategy> (*make)(const StrategySpec&, const StrategyContext&);
  bool wraps = false;             ///< takes other strategies in parentheses
  std::string_view at = {};       ///< the option that NAME@VALUE gives; empty: there is none
  std::string_view example = {};  ///< how it is written, where the name alone will not do
  bool keeps_regions = false;     ///< `empty_cache` leaves it regions without blocks
  bool stitches = false;          ///< separate free pieces may serve one request together
  /// Whether it merges regions that touch; null: never.
  bool (*joins)(const StrategySpec&) = nullptr;
  bool scales = false;  ///< scaling all sizes (options, device, requests) scales every result
  /// What it must know of the future; null: it does not follow a plan.
  std::optional<PlanWish> (*plan_for)(const StrategySpec&) = nullptr;
  bool needs_plan = false;  ///< without it, it cannot be made
  /// Real memory alone will do: "host" or "cuda".
  std::string_view needs_device = {};
  std::vector<OtherName> known_as = {};
  /// The option that sets the size of what it takes from the device whatever is asked for; empty:
  /// it takes what is needed.
  std::string_view takes_at_once = {};
  /// What `tune` tries beside the defaults, as options are written: "key=value,…". The simplest
  /// first. Null: it cannot be tuned so.
  std::vector<std::string> (*settings_to_try)() = nullptr;
  /// The line that sets these options in the original. Goes with `settings_to_try`.
  std::string (*as_set)(const StrategySpec&) = nullptr;
  /// The option that may be `fit`: the smallest in whole MiB in which the recording runs. The
  /// counter `touched` says how much is used of what is taken without the option. Empty: none may.
  std::string_view fits = {};
  std::vector<Preset> presets = {};
  /// Called before any recording is read; throws for options that cannot do here. Null: all can.
  void (*check_here)(const StrategySpec&) = nullptr;
  bool divides_early = false;  ///< the first requests decide for good how memory is divided
  bool needs_start = false;  ///< what it holds or moved away tells of every request since the start
};

/// Every registered strategy, in the order of strategies.def.
std::span<const StrategyInfo> strategies();

/// Throws as `parse_strategy` does where there is none of this name.
const StrategyInfo& strategy_info(std::string_view name);

/// The strategy that a person means by another name, with its options ("free-list:fit=best"); case,
/// '-' and '_' do not matter. Unset: no strategy is known by it.
std::optional<std::string> strategy_known_as(std::string_view name);

/// Throws UsageError, with the nearest known name, for an unknown strategy or key, bad brackets, or
/// more than eight strategies inside one another.
StrategySpec parse_strategy(std::string_view text);

/// The strategy by the rules of this PyTorch; as it is where `release` is empty.
StrategySpec under_release(StrategySpec spec, const std::string& release);

/// Whether the strategy, or one that it wraps, makes one of regions that touch.
bool joins_regions(const StrategySpec&);
/// The size of the pieces in which it, or one that it wraps, lets memory of several places serve
/// one request; unset: it does not.
std::optional<Bytes> stitched_chunk(const StrategySpec&);

/// What the strategy must know of the future before it is made.
std::optional<PlanWish> plan_wish(const StrategySpec&);

std::unique_ptr<Strategy> make_strategy(const StrategySpec&, const StrategyContext&);

/// The value of an option, unset where it was not given. The last one wins.
std::optional<std::string_view> find_option(const StrategySpec&, std::string_view key);
/// A SIZE. Throws UsageError naming the strategy, the key and what was expected, as all of these
/// do.
Bytes size_option(const StrategySpec&, std::string_view key, Bytes default_value);
/// A number that is not negative.
double number_option(const StrategySpec&, std::string_view key, double default_value);
/// A size that is a power of two.
Bytes alignment_option(const StrategySpec&, std::string_view key, Bytes default_value);
/// A whole number within [least, most].
std::uint64_t whole_option(const StrategySpec&, std::string_view key, std::uint64_t default_value,
                           std::uint64_t least = 0, std::uint64_t most = UINT64_MAX);
/// A whole number of MiB, as PyTorch's settings have it; the default is in bytes.
Bytes mebibytes_option(const StrategySpec&, std::string_view key, Bytes default_value);
bool bool_option(const StrategySpec&, std::string_view key, bool default_value);
/// The index of the value among `choices`.
std::size_t choice_option(const StrategySpec&, std::string_view key,
                          std::span<const std::string_view> choices, std::size_t default_index);

}  // namespace memreplay
