#include "questions/settings/search.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "core/parallel.hpp"
#include "questions/settings/experiment.hpp"
#include "questions/settings/setting.hpp"
#include "strategy/torch/variable.hpp"

namespace memreplay {
namespace {

// Replays between which the search looks at what it found. It does not depend on the number of
// threads, as it decides what is given up.
constexpr std::size_t kBatch = 32;
constexpr std::size_t kValuesPerOption = 64;  // in combinations
/// Replays of fewer are over before another thread has begun, on a machine with other work.
constexpr std::uint64_t kEventsOfAThread = 200'000;
constexpr std::uint64_t kUnlimitedMb = std::uint64_t{1} << 20;

constexpr std::string_view kNpuVariable = "PYTORCH_NPU_ALLOC_CONF";

bool reads(const torch::Release& release, const std::string& conf) {
  torch::SettingIssues issues;
  torch::read_conf(conf, release, issues);
  return torch::first_error(issues) == nullptr;
}

// torch_npu does not write which settings it had; it adds to every request.
std::string variable_of(const Subject& subject, const torch::Release& release) {
  const std::string& stated = subject.recording().settings.conf_variable;
  if (!stated.empty() && torch::reads_variable(release, stated)) return stated;
  const RecordedSettings* settings = subject.settings();
  const bool npu = settings != nullptr && settings->request_padding > 0;
  return std::string(npu ? kNpuVariable : torch::kCudaVariable);
}

// The settings in use, also where the recording shows only by its segments that they expand.
StrategySpec settings_in_use(const Recording& recording) {
  const StrategySpec usual = usual_strategy(recording);
  const bool expand = recording.settings.expandable_segments.value_or(false);
  if (usual.name == "recorded" || !expand) return usual;
  return torch_spec_from_conf(conf_of({.expandable_segments = true}, {}));
}

class Search {
 public:
  explicit Search(const TuneOptions& options)
      : options_(options), space_(options.bench.subjects, space_options()), known_(space_) {
    if (options.seconds) {
      deadline_ = std::chrono::steady_clock::now() +
                  std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                      std::chrono::duration<double>(*options.seconds));
    }
  }

  TuneResult run() {
    replay_baseline();
    try_all({Setting{}}, Prune::no, options_.runs);
    if (result_.outcomes.empty()) {  // cancelled
      result_.finished = false;
      return std::move(result_);
    }
    try_all(space_.single_options(), Prune::no, options_.runs);
    if (space_.varies("max_split_size_mb")) {
      result_.every_split_size =
          walk({}, kSplitLimit, std::max<std::uint64_t>(options_.runs * 3 / 4, 1));
    }
    if (space_.varies("max_non_split_rounding_mb")) walk_roundings();
    refine(options_.runs);
    try_all(combinations(), Prune::yes, options_.runs * 9 / 10);
    refine(options_.runs);
    try_all(combinations(), Prune::yes, options_.runs);
    if (options_.progress && !cut_short_) options_.progress(1);
    result_.finished = !cut_short_;
    conclude(options_, result_);
    return std::move(result_);
  }

 private:
  enum class Prune { no, yes };

  SettingSpace::Options space_options() {
    const Subject& first = *options_.bench.subjects.front();
    const RecordedSettings& recorded = first.recording().settings;
    std::string version =
        first.with_release(under_release(parse_strategy("torch"), options_.release)).release;
    if (version.empty()) version = recorded.oldest_release;
    const torch::Release rules = torch::parse_release(version);
    result_.release = rules.text();
    // Later rules may fit a recording better, but who wrote it may not know later options.
    torch::Release release = rules;
    if (options_.release.empty() && !recorded.oldest_release.empty()) {
      const torch::Release oldest = torch::parse_release(recorded.oldest_release);
      if (reads(oldest, recorded.conf)) release = std::min(rules, oldest);
    }
    result_.variable = variable_of(first, release);
    std::set<std::string> forbidden = options_.forbidden;
    if (result_.variable == kNpuVariable) {
      forbidden.insert(options_unknown_to_npu().begin(), options_unknown_to_npu().end());
    }
    std::vector<torch::ConfEntry> kept = kept_options(recorded.conf, rules);
    result_.kept = conf_of(kept);
    return {release, std::move(kept), std::move(forbidden)};
  }

  bool stopped() const {
    if (options_.replaying.stops.cancelled && options_.replaying.stops.cancelled->load())
      return true;
    return deadline_ && std::chrono::steady_clock::now() >= *deadline_;
  }

  void replay_baseline() {
    const Recording& recording = options_.bench.subjects.front()->recording();
    const StrategySpec spec = under_release(settings_in_use(recording), options_.release);
    result_.baseline = spec.text;
    if (const auto model = options_.bench.subjects.front()->model_of(spec)) {
      result_.baseline_conf = conf_of(setting_of(model->settings), result_.kept);
    }
    const auto replayed = [&](const ReplayOptions& replaying) {
      TuneOutcome outcome = try_on(options_.bench, spec, replaying, {}).outcome;
      outcome.settings = {Setting{}};
      return outcome;
    };
    result_.baseline_outcome = replayed(options_.replaying);
    const bool was_full = result_.baseline_outcome.total().oom_retries > 0;
    result_.objective =
        options_.objective.value_or(was_full ? Objective::full_device : Objective::reserved);
    if (options_.replaying.program.insert_empty_cache.empty()) return;
    ReplayOptions as_it_was = options_.replaying;
    as_it_was.program.insert_empty_cache.clear();
    result_.without_insertions = replayed(as_it_was);
  }

  unsigned threads_for(std::uint64_t replays) const {
    std::uint64_t events = 0;
    for (const Subject* subject : options_.bench.subjects) {
      events += subject->trace().size();
    }
    const std::uint64_t busy = replays * events / kEventsOfAThread + 1;
    return static_cast<unsigned>(std::min<std::uint64_t>(options_.threads, busy));
  }

  void note(const Setting& setting, std::optional<std::size_t> outcome) {
    if (!seen_.insert(setting).second) return;
    ++result_.tried;
    if (outcome) result_.outcomes[*outcome].settings.push_back(setting);
  }

  void keep(const Setting& setting, Experiment tried) {
    cut_short_ |= tried.cancelled;
    if (tried.cancelled) return;
    ++result_.replayed;
    std::optional<std::size_t>& number = tried.shown.outcome;
    if (tried.given_up) {
      ++result_.abandoned;
    } else {
      number = add_outcome(std::move(tried.outcome), result_);
    }
    known_.add(setting, tried.shown);
    note(setting, number);
  }

  // Tries them in this order until `budget` settings are tried in all.
  void try_all(const std::vector<Setting>& settings, Prune prune, std::uint64_t budget) {
    auto next = settings.begin();
    while (next != settings.end() && result_.tried < budget && !cut_short_) {
      std::vector<Setting> batch;
      for (;
           next != settings.end() && batch.size() < kBatch && result_.tried + batch.size() < budget;
           ++next) {
        if (seen_.contains(*next)) continue;
        if (const Known* known = known_.find(*next)) {
          note(*next, known->outcome);
        } else {
          batch.push_back(*next);
        }
      }
      replay_batch(batch, prune);
    }
  }

  void replay_batch(const std::vector<Setting>& batch, Prune prune) {
    if (batch.empty()) return;
    if (stopped() && !result_.outcomes.empty()) {
      cut_short_ = true;
      return;
    }
    std::vector<std::optional<Experiment>> tried = try_batch(batch, prune);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (!tried[i]) note(batch[i], known_.find(batch[i])->outcome);
      if (tried[i]) keep(batch[i], *std::move(tried[i]));
    }
    if (options_.progress) {
      options_.progress(static_cast<double>(result_.tried) / static_cast<double>(options_.runs));
    }
  }

  // Unset where an earlier one of the batch tells: the first of each kind are replayed first.
  std::vector<std::optional<Experiment>> try_batch(const std::vector<Setting>& batch, Prune prune) {
    const auto front =
        prune == Prune::yes ? pareto_front(result_.outcomes) : std::vector<RunSoFar>();
    std::vector<std::optional<Experiment>> tried(batch.size());
    const auto replay = [&](const std::vector<std::size_t>& which) {
      for_each_parallel(which.size(), threads_for(which.size()), [&](std::size_t i) {
        const StrategySpec spec = under_release(
            torch_spec_from_conf(conf_of(batch[which[i]], result_.kept)), result_.release);
        tried[which[i]] = try_on(options_.bench, spec, options_.replaying, front);
      });
    };
    std::set<Setting> kinds;
    std::vector<std::size_t> first, rest;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (kinds.insert(known_.kind_of(batch[i])).second) first.push_back(i);
    }
    replay(first);
    KnownReplays told(space_);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (tried[i] && !tried[i]->cancelled) told.add(batch[i], tried[i]->shown);
      if (told.find(batch[i]) == nullptr) rest.push_back(i);
    }
    replay(rest);
    return tried;
  }

  // Replays until every value of a limit is known to be like one that was replayed; true when it
  // got there. What lies between two compared sizes needs one replay.
  bool walk(Setting base, Limit limit, std::uint64_t budget) {
    base.*limit = limit == kSplitLimit ? 0 : kUnlimitedMb;
    if (!space_.sensible(base)) return true;
    try_all({base}, Prune::no, budget);
    const Known* unlimited = known_.find(base);
    if (unlimited == nullptr) return false;
    const std::uint64_t highest =
        unlimited->gap(limit).low / kMiB;  // above it: like no limit at all
    for (;;) {
      const auto ranges = known_.unknown(base, limit, space_.least_limit_mb(base), highest);
      if (ranges.empty()) return true;
      if (result_.tried >= budget || cut_short_) return false;
      std::uint64_t values = 0;
      for (const auto& [from, to] : ranges) values += to - from;
      std::vector<Setting> probes;
      for (const auto& [from, to] : ranges) {
        const std::uint64_t share = std::max<std::uint64_t>(kBatch * (to - from) / values, 1);
        for (std::uint64_t i = 0; i < std::min(share, to - from); ++i) {
          Setting probe = base;
          probe.*limit = from + (to - from) * i / share;
          if (space_.sensible(probe)) probes.push_back(probe);
        }
      }
      if (probes.empty()) return true;
      try_all(probes, Prune::no, budget);
    }
  }

  // It acts beside max_split_size_mb only: tried beside the best of that.
  void walk_roundings() {
    constexpr std::size_t kBeside = 3;
    std::vector<Setting> bases = best_values(&Setting::max_split_size_mb);
    std::erase(bases, Setting{});
    bases.resize(std::min(bases.size(), kBeside));
    for (const Setting& base : bases) {
      walk(base, kRoundingLimit, result_.tried + options_.runs / 20);
    }
  }

  // Settings that differ from the defaults in this option alone: the best first, the simplest among
  // those with equal results; then the others with these results.
  template <typename Option>
  std::vector<Setting> best_values(Option option) const {
    std::vector<const TuneOutcome*> outcomes;
    for (const TuneOutcome& outcome : result_.outcomes) outcomes.push_back(&outcome);
    std::ranges::stable_sort(outcomes, [&](const TuneOutcome* a, const TuneOutcome* b) {
      return better(*a, *b, result_.objective);
    });
    std::vector<Setting> values;
    std::vector<Setting> alike;
    for (const TuneOutcome* outcome : outcomes) {
      bool first = true;
      for (const Setting& s : outcome->settings) {
        Setting alone;
        alone.*option = s.*option;
        if (alone != s) continue;
        (std::exchange(first, false) ? values : alike).push_back(s);
      }
    }
    values.insert(values.end(), alike.begin(), alike.end());
    values.resize(std::min(values.size(), kValuesPerOption));
    return values;
  }

  // Every combination of the values found alone, those of good values first.
  std::vector<Setting> combinations() const {
    struct Ranked {
      std::size_t rank = 0;
      Setting setting;
    };
    std::vector<Ranked> product = {{}};
    const auto combine = [&](auto option) {
      const std::vector<Setting> values = best_values(option);
      std::vector<Ranked> longer;
      for (const Ranked& one : product) {
        for (std::size_t i = 0; i < values.size(); ++i) {
          Ranked next{one.rank + i, one.setting};
          next.setting.*option = values[i].*option;
          longer.push_back(next);
        }
      }
      product = std::move(longer);
    };
    combine(&Setting::expandable_segments);
    combine(&Setting::roundup_power2_divisions);
    combine(&Setting::large_segment_size_mb);
    combine(&Setting::garbage_collection_percent);
    combine(&Setting::max_split_size_mb);
    std::ranges::stable_sort(product, {}, &Ranked::rank);
    std::vector<Setting> settings;
    for (const Ranked& one : product) {
      if (settings.size() >= options_.runs) break;
      const bool fresh = option_count(one.setting) > 1 && !seen_.contains(one.setting);
      if (fresh && space_.sensible(one.setting)) settings.push_back(one.setting);
    }
    return settings;
  }

  const TuneOutcome& best() const {
    return *std::ranges::min_element(result_.outcomes, [&](const auto& a, const auto& b) {
      return better(a, b, result_.objective);
    });
  }

  // From the best so far on: each option with every value found alone, and other roundings for each
  // class of sizes, as long as that finds a better one.
  void refine(std::uint64_t budget) {
    for (;;) {
      const Setting centre = best().settings.front();
      std::vector<Setting> around;
      const auto vary = [&](auto option) {
        for (const Setting& value : best_values(option)) {
          around.push_back(centre);
          around.back().*option = value.*option;
        }
      };
      vary(&Setting::expandable_segments);
      vary(&Setting::roundup_power2_divisions);
      vary(&Setting::large_segment_size_mb);
      vary(&Setting::garbage_collection_percent);
      vary(&Setting::max_split_size_mb);
      const std::vector<Setting> rounded = space_.other_roundings(centre);
      around.insert(around.end(), rounded.begin(), rounded.end());
      std::erase_if(around, [&](const Setting& s) { return !space_.sensible(s); });
      try_all(around, Prune::yes, budget);
      if (cut_short_ || result_.tried >= budget || best().settings.front() == centre) return;
    }
  }

  const TuneOptions& options_;
  TuneResult result_;
  SettingSpace space_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  KnownReplays known_;
  std::set<Setting> seen_;
  bool cut_short_ = false;
};

}  // namespace

std::uint64_t default_runs(const Bench& bench) {
  constexpr std::uint64_t kEvents = 2'000'000'000;
  std::uint64_t events = 1;
  for (const Subject* subject : bench.subjects) events += subject->trace().size();
  return std::clamp<std::uint64_t>(kEvents / events, 100, 1000);
}

TuneResult tune(const TuneOptions& options) { return Search(options).run(); }

}  // namespace memreplay
