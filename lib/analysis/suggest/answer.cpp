#include "analysis/suggest/answer.hpp"

#include <algorithm>
#include <tuple>

#include "analysis/edit/edited.hpp"
#include "analysis/edit/passes.hpp"
#include "analysis/recorded/summary.hpp"
#include "analysis/run/made_interval.hpp"
#include "analysis/suggest/layers.hpp"
#include "analysis/suggest/question.hpp"
#include "analysis/suggest/rest_of_step.hpp"
#include "core/error.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kLayersTried = 6;
constexpr std::size_t kPairsTried = 8;

/// What was tried of a program.
struct Candidate {
  std::vector<Edit> edits;
  std::vector<Suggestion> suggestions;  ///< by strategy
};

/// What of a program lies beyond the failure with which its recording ends.
struct Beyond {
  bool ends_at_oom = false;
  bool saw_backward = false;
  Bytes parameters = 0;
  Bytes gradients = 0;  ///< that were not asked for yet
  Bytes states = 0;     ///< copies of the parameters that an optimizer will keep

  Bytes still_to_come(const std::vector<EditFacts>& edits) const {
    if (!ends_at_oom || saw_backward) return 0;
    Bytes again = 0;
    for (const EditFacts& edit : edits) again = std::max(again, edit.largest_segment);
    return gradients + states * parameters + again;
  }
};

// A step that was recorded to its end tells of all steps.
Beyond beyond(const Subject& subject, const std::vector<LayerCode>& layers) {
  const Trace& trace = subject.trace();
  Beyond found;
  found.ends_at_oom = std::ranges::find(trace.ops, Op::oom) != trace.ops.end();
  const Passes passes(subject.recording(), trace);
  const BlockLives lives = lives_of(trace);
  const std::uint64_t first_backward = [&] {
    std::uint64_t event = 0;
    while (event < trace.size() && passes.backward_before(event) == 0) ++event;
    return event;
  }();
  found.saw_backward = passes.are_known() && first_backward < trace.size() &&
                       passes.others_before(trace.size()) > passes.others_before(first_backward);
  if (!passes.are_known()) return found;
  std::uint64_t forward = first_backward;
  for (const LayerCode& layer : layers) forward = std::min(forward, layer.begins);
  Selector parameters;
  parameters.category = Category::parameter;
  for (const std::uint32_t block : selected(subject.recording(), trace, lives, parameters)) {
    // What a forward pass left when it was ended stays, too: parameters are older than any layer.
    const BlockLife& life = lives.blocks[block];
    if (life.existed_before() || life.born < forward) found.parameters += life.size;
  }
  Bytes gradients = 0;
  Selector of_gradients;
  of_gradients.category = Category::gradient;
  for (const std::uint32_t block : selected(subject.recording(), trace, lives, of_gradients)) {
    gradients += lives.blocks[block].size;
  }
  found.gradients = found.parameters - std::min(found.parameters, gradients);
  return found;
}

class Search {
 public:
  Search(const Chosen& chosen, const Subject& subject, const SuggestQuestion& question,
         Bytes budget, const Control& control)
      : chosen_(chosen),
        subject_(subject),
        question_(question),
        control_(control),
        budget_(budget),
        layers_(layers_of(subject.recording(), subject.trace())),
        beyond_(beyond(subject, layers_)),
        strategies_(strategies()) {
    beyond_.states = question.states;
  }

  SuggestedDevice search() {
    SuggestedDevice found;
    found.ends_at_oom = beyond_.ends_at_oom && !beyond_.saw_backward;
    found.parameters = beyond_.parameters;
    found.layers = layers_.size();
    try_edits({});
    base_ = candidates_.front().suggestions.front().peak_reserved;
    for (const std::vector<Edit>& edits : single_edits()) try_edits(edits);
    if (std::ranges::none_of(candidates_, fits)) try_pairs();
    for (Candidate& candidate : candidates_) {
      for (Suggestion& suggestion : candidate.suggestions) {
        suggestion.saved = base_ - std::min(base_, suggestion.peak_reserved);
        found.suggestions.push_back(std::move(suggestion));
      }
    }
    found.tried = found.suggestions.size();
    drop_alike(found.suggestions);
    sort(found.suggestions, found.ends_at_oom);
    return found;
  }

 private:
  static bool fits(const Candidate& candidate) {
    return std::ranges::any_of(candidate.suggestions, &Suggestion::fits);
  }

  std::vector<StrategySpec> strategies() const {
    if (!question_.strategies.empty()) return question_.strategies;
    std::vector<StrategySpec> usual = {usual_strategy(*chosen_.recording)};
    const bool torch = usual.front().name == "recorded" || usual.front().name == "torch";
    const bool expandable = chosen_.recording->settings.expandable_segments.value_or(false);
    if (torch && !expandable) usual.push_back(parse_strategy("torch:expandable_segments=True"));
    return usual;
  }

  std::vector<std::vector<Edit>> single_edits() const {
    std::vector<std::vector<Edit>> all;
    const auto add = [&](const std::string& text) { all.push_back({parse_edit(text)}); };
    for (std::size_t i = 0; i < std::min(layers_.size(), kLayersTried); ++i) {
      const auto& [selector, saved, instances, begins] = layers_[i];
      if (question_.checkpoint) {
        const std::string edit = "checkpoint:" + selector;
        add(edit);
        for (std::uint32_t k = 2; k < instances && k <= 4; ++k) {
          add(edit + ",only=" + std::to_string(k));
        }
        for (std::uint32_t k = 2; k < instances && k <= 4; k += 2) {
          add(edit + ",group=" + std::to_string(k));
        }
      }
      if (question_.offload) add("offload:" + selector + ",saved");
    }
    if (question_.offload) add("offload:saved");
    return all;
  }

  static bool is_checkpoint(const Candidate& candidate) {
    return std::holds_alternative<CheckpointEdit>(candidate.edits.front().what);
  }

  // The edits that save most, one of either kind: what is computed again, and with it what may be
  // done to the rest.
  void try_pairs() {
    std::vector<const Candidate*> by_need;
    for (const Candidate& candidate : candidates_) {
      if (!candidate.edits.empty()) by_need.push_back(&candidate);
    }
    std::ranges::stable_sort(by_need, {}, [](const Candidate* candidate) {
      return std::ranges::min(candidate->suggestions, {}, &Suggestion::peak_reserved).peak_reserved;
    });
    std::vector<std::vector<Edit>> pairs;
    for (std::size_t i = 0; i < std::min(by_need.size(), kPairsTried); ++i) {
      for (std::size_t j = i + 1; j < std::min(by_need.size(), kPairsTried); ++j) {
        if (is_checkpoint(*by_need[i]) == is_checkpoint(*by_need[j])) continue;
        pairs.push_back(by_need[i]->edits);
        pairs.back().insert(pairs.back().end(), by_need[j]->edits.begin(), by_need[j]->edits.end());
      }
    }
    for (const std::vector<Edit>& pair : pairs) try_edits(pair);
  }

  void try_edits(const std::vector<Edit>& edits) {
    if (control_.stopped()) return;
    MadeRecordings made;
    if (!edits.empty()) {
      try {
        made = edited(subject_, edits);
      } catch (const UsageError&) {
        return;  // nothing of it is saved, or left
      }
    }
    Candidate candidate{edits, {}};
    const Bytes to_come = beyond_.still_to_come(made.edits);
    for (const StrategySpec& spec : strategies_) {
      Suggestion suggestion{.strategy = spec.text, .still_to_come = to_come};
      for (const Edit& edit : edits) suggestion.edits.push_back(edit.text);
      for (const EditFacts& facts : made.edits) {
        suggestion.recomputed += facts.recomputed_bytes;
        suggestion.recomputed_requests += facts.recomputed_requests;
        suggestion.moved += facts.moved_bytes;
      }
      judge(edits.empty() ? nullptr : &made, spec, to_come, suggestion);
      candidate.suggestions.push_back(std::move(suggestion));
    }
    candidates_.push_back(std::move(candidate));
    control_.show("trying edits", 0.5);
  }

  // Where it is endless how much is reserved, then whether it suffices.
  void judge(const MadeRecordings* made, const StrategySpec& spec, Bytes to_come,
             Suggestion& suggestion) const {
    Setup setup = question_.setup;
    setup.device.capacity.reset();
    setup.device.endless = true;
    const Run run = run_on(made, spec, setup);
    suggestion.peak_requested = run.metrics.peak_requested;
    suggestion.peak_reserved = run.metrics.peak_reserved;
    suggestion.interval = run.interval;
    const Bytes most = run.interval ? run.interval->peak_reserved.high : run.metrics.peak_reserved;
    const Bytes held = question_.setup.device.reserve.value_or(0);
    suggestion.fits = most + to_come + held <= budget_;
    if (suggestion.fits || budget_ <= to_come + held) return;
    // A full device makes an allocator return what it does not need.
    setup.device.endless = false;
    setup.device.capacity = budget_ - to_come;
    setup.stop_at_oom = true;
    const Run full = run_on(made, spec, setup);
    if (full.metrics.ooms > 0 || !full.finished) return;
    suggestion.fits = made == nullptr || serve(made->others, spec, setup);
    if (!suggestion.fits) return;
    suggestion.retries = full.metrics.oom_retries;
    suggestion.peak_reserved = full.metrics.peak_reserved;
    suggestion.interval = full.interval;
  }

  Run run_on(const MadeRecordings* made, const StrategySpec& spec, const Setup& setup) const {
    const auto of = [&](const Subject& subject) {
      const LateStart late(subject, replay_options(subject.trace(), setup, control_));
      return memreplay::run(subject, spec, simulated(sized_for(subject, setup.device)), setup, late,
                            nullptr, control_);
    };
    if (made == nullptr) return of(subject_);
    const MadeRecording& likeliest = made->likeliest;
    const Subject subject(likeliest.recording, likeliest.trace(), likeliest.origin);
    Run run = of(subject);
    span_others(*made, spec, simulated(sized_for(subject, setup.device)), setup, control_, run);
    return run;
  }

  bool serve(const std::vector<MadeRecording>& recordings, const StrategySpec& spec,
             const Setup& setup) const {
    return std::ranges::all_of(recordings, [&](const MadeRecording& made) {
      const Subject subject(made.recording, made.trace(), made.origin);
      const LateStart late(subject, replay_options(subject.trace(), setup, control_));
      const OpenDevice device = simulated(sized_for(subject, setup.device));
      const Run run = memreplay::run(subject, spec, device, setup, late, nullptr, control_);
      return run.finished && run.metrics.ooms == 0;
    });
  }

  // Ways that come to the same are told once.
  static void drop_alike(std::vector<Suggestion>& suggestions) {
    const auto same = [](const Suggestion& a, const Suggestion& b) {
      return a.strategy == b.strategy && a.edits.size() == b.edits.size() && a.fits == b.fits &&
             a.recomputed == b.recomputed && a.moved == b.moved &&
             a.peak_reserved == b.peak_reserved && a.peak_requested == b.peak_requested;
    };
    std::vector<Suggestion> kept;
    for (Suggestion& suggestion : suggestions) {
      const bool told = std::ranges::any_of(
          kept, [&](const Suggestion& other) { return same(other, suggestion); });
      if (!told) kept.push_back(std::move(suggestion));
    }
    suggestions = std::move(kept);
  }

  // The cheapest that fit first, but where the first step is not whole those that leave most for
  // the rest of it; of others those that save most for their price.
  static void sort(std::vector<Suggestion>& suggestions, bool ends_early) {
    const auto worth = [](const Suggestion& s) {
      const auto price = static_cast<double>(s.price());
      return price > 0 ? static_cast<double>(s.saved) / price : 0;
    };
    std::ranges::stable_sort(suggestions, [&](const Suggestion& a, const Suggestion& b) {
      if (a.fits != b.fits) return a.fits;
      if (ends_early) {
        return a.peak_reserved + a.still_to_come < b.peak_reserved + b.still_to_come;
      }
      if (a.fits) {
        return std::tuple(a.price(), a.edits.size(), a.peak_reserved) <
               std::tuple(b.price(), b.edits.size(), b.peak_reserved);
      }
      return worth(a) > worth(b);
    });
  }

  const Chosen& chosen_;
  const Subject& subject_;
  const SuggestQuestion& question_;
  const Control& control_;
  Bytes budget_;
  std::vector<LayerCode> layers_;
  Beyond beyond_;
  std::vector<StrategySpec> strategies_;
  std::vector<Candidate> candidates_;
  Bytes base_ = 0;
};

SuggestedDevice suggested(const Chosen& chosen, const SuggestQuestion& question,
                          const Control& control) {
  const Subject subject = chosen.subject(control);
  Setup setup = question.setup;
  setup.device.capacity = question.budget;
  const SizedDevice device = sized_for(subject, setup.device);
  if (!device.options.capacity) {
    throw UsageError(chosen.recording->path +
                     ": no failure shows how large the device is; add --budget SIZE");
  }
  const auto completed = with_rest_of_step(subject);
  std::optional<Subject> rest;
  if (completed) rest.emplace(completed->recording, completed->trace(), completed->origin);
  const Subject& whole = rest ? *rest : subject;
  SuggestedDevice found =
      Search(chosen, whole, question, *device.options.capacity, control).search();
  found.completed = completed.has_value();
  found.trace = summarise(chosen);
  found.device = summarise(device);
  return found;
}

}  // namespace

bool SuggestAnswer::all_fit() const {
  return std::ranges::all_of(
      devices, [](const SuggestedDevice& device) { return device.best() != nullptr; });
}

SuggestAnswer answer(const Inputs& inputs, const SuggestQuestion& question,
                     const Control& control) {
  SuggestAnswer answer;
  for (const Chosen& chosen : inputs.chosen()) {
    if (control.stopped()) break;
    answer.devices.push_back(suggested(chosen, question, control));
  }
  answer.interrupted = control.stopped();
  return answer;
}

}  // namespace memreplay
