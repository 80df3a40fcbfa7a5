#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "questions/settings/result.hpp"
#include "strategy/registry.hpp"
#include "strategy/torch/conf.hpp"
#include "strategy/torch/release.hpp"
#include "strategy/torch/settings.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// The names of the options that a search varies.
std::span<const std::string_view> varied_options();

/// The varied options that torch_npu does not read.
std::span<const std::string_view> options_unknown_to_npu();

/// Options that differ from their defaults.
int option_count(const Setting& setting);

/// The number of such options, with a list of roundings counted by its pairs: how much there is to
/// explain.
int complexity(const Setting& setting);

/// Options as they stand in PYTORCH_CUDA_ALLOC_CONF.
std::string conf_of(const std::vector<torch::ConfEntry>& entries);

/// The strategy under which a setting of this search is replayed.
StrategySpec spec_of(const TuneResult& result, const Setting& setting);

/// The setting that a configuration comes to, as far as a search varies it.
Setting setting_of(const torch::Settings& settings);

/// The options of a configuration that a search leaves as they are, but for those that the rules
/// do not read.
std::vector<torch::ConfEntry> kept_options(const std::string& conf, const torch::Release& release);

/// Which settings are worth a replay: values at which something of these recordings changes.
class SettingSpace {
 public:
  struct Options {
    torch::Release release;              ///< whose options there are
    std::vector<torch::ConfEntry> kept;  ///< options that stay as they are
    std::set<std::string> forbidden;     ///< names of options that must keep their default
  };
  /// O(events + distinct sizes).
  SettingSpace(const std::vector<const Subject*>& subjects, Options options);

  const torch::Release& release() const { return options_.release; }
  bool varies(const std::string& option) const { return !options_.forbidden.contains(option); }

  /// The release reads it without an error, and no option of it fights or disables another.
  bool sensible(const Setting& setting) const;
  /// The simplest setting that is the same for these recordings: rounding that changes no size
  /// goes. O(distinct sizes) for divisions not seen before.
  Setting canonical(const Setting& setting);

  /// Settings with one option each, but for the limits, whose values a walk finds.
  std::vector<Setting> single_options() const;
  /// The setting with the divisions of one class of sizes changed, for every class and value.
  std::vector<Setting> other_roundings(const Setting& setting) const;
  /// The least value that the release takes for a limit, in MiB.
  std::uint64_t least_limit_mb(const Setting& setting) const;

 private:
  struct SizeClass {
    std::size_t entry = 0;                            ///< in the table
    std::vector<Bytes> sizes;                         ///< distinct, requested
    std::map<std::uint32_t, std::uint32_t> coarsest;  ///< by divisions, those that do the same
  };
  static std::uint32_t coarsest(const SizeClass& c, std::uint32_t given);

  Options options_;
  std::string kept_;  ///< the configuration of the options that stay
  std::vector<SizeClass> classes_;
  bool limits_memory_ = false;
  Bytes padding_ = 0;
};

}  // namespace memreplay
