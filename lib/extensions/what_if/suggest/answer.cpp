#include "extensions/what_if/suggest/answer.hpp"

#include <algorithm>
#include <span>
#include <tuple>
#include <vector>

#include "core/error.hpp"
#include "extensions/what_if/edit/selector.hpp"
#include "extensions/what_if/suggest/fitting.hpp"
#include "extensions/what_if/suggest/layers.hpp"
#include "metrics/made_facts.hpp"
#include "program/early_end.hpp"
#include "program/program_course.hpp"
#include "program/summary.hpp"
#include "verify/subject.hpp"

namespace memreplay {
namespace {

/// What of a program's first step lies beyond the OOM at which its recording ends.
struct BeyondFailure {
  bool in_first_step = false;
  bool in_forward = false;
  Bytes parameters = 0;
  Bytes gradients = 0;  ///< that were not asked for yet
  Bytes states = 0;     ///< that an optimizer will keep, likewise

  /// What is to be set aside for it, of the program with these edits.
  Bytes still_to_come(const std::vector<EditFacts>& edits) const;
};

Bytes BeyondFailure::still_to_come(const std::vector<EditFacts>& edits) const {
  if (!in_first_step) return 0;
  Bytes again = 0;
  for (const EditFacts& edit : edits) again = std::max(again, edit.largest_segment);
  return gradients + states + (in_forward ? again : 0);
}

Bytes bytes_of(const Subject& subject, const BlockLives& lives, Category category) {
  Selector selector;
  selector.category = category;
  Bytes bytes = 0;
  for (const std::uint32_t block :
       selected(subject.recording(), subject.trace(), lives, selector)) {
    bytes += lives.blocks[block].size;
  }
  return bytes;
}

/// The parameters are inferred from their lifetimes. O(events).
BeyondFailure beyond_failure(const Subject& subject, const RecordingFacts& facts,
                             std::span<const LayerCode> layers, std::uint32_t states) {
  const Trace& trace = subject.trace();
  BeyondFailure found;
  found.in_first_step = facts.ends() == Ends::oom_in_first_step;
  found.in_forward = found.in_first_step && facts.early_end->pass == EarlyEnd::Pass::forward;
  const Passes passes(subject.recording(), trace);
  if (!passes.are_known()) return found;
  const BlockLives lives = lives_of(trace);
  std::uint64_t forward = 0;
  while (forward < trace.size() && passes.backward_before(forward) == 0) ++forward;
  for (const LayerCode& layer : layers) forward = std::min(forward, layer.begins);
  Selector parameters;
  parameters.category = Category::parameter;
  for (const std::uint32_t block : selected(subject.recording(), trace, lives, parameters)) {
    // What a forward pass left when it was ended stays, too: parameters are older than any layer.
    const BlockLife& life = lives.blocks[block];
    if (life.existed_before() || life.born < forward) found.parameters += life.size;
  }
  const auto without = [](Bytes all, Bytes there) { return all - std::min(all, there); };
  found.gradients = without(found.parameters, bytes_of(subject, lives, Category::gradient));
  found.states =
      without(states * found.parameters, bytes_of(subject, lives, Category::optimizer_state));
  return found;
}

constexpr std::size_t kLayersTried = 6;
constexpr std::size_t kPairsTried = 8;
constexpr std::size_t kProgramsSearched = 12;  ///< programs in each search for settings

/// What was tried of a program.
struct Candidate {
  std::vector<SuggestedEdit> edits;
  std::vector<Suggestion> suggestions;  ///< by strategy, a searched one last
  bool searched = false;                ///< settings were

  Bytes price() const { return suggestions.front().price(); }
};

class EditSearch {
 public:
  EditSearch(const Chosen& chosen, const Subject& subject, const RecordingFacts& facts,
             RestOfStep rest, const SuggestQuestion& question, Bytes budget, const Control& control)
      : chosen_(chosen),
        subject_(subject),
        question_(question),
        control_(control),
        rest_(rest),
        judge_(question.setup, budget, rest, control),
        settings_(judge_, control),
        layers_(layers_of(subject.recording(), subject.trace())),
        beyond_(beyond_failure(subject, facts, layers_, question.states)),
        strategies_(strategies()) {}

  SuggestedDevice search() {
    SuggestedDevice found;
    found.parameters = beyond_.parameters;
    found.layers = layers_.size();
    try_edits({});
    if (candidates_.empty()) return found;  // cancelled
    // Where the rest is unknown the best program is not the cheapest, but the one that leaves most
    // for it: settings by which it is only just served are not searched for.
    if (rest_ != RestOfStep::unknown) search_settings();
    base_ = candidates_.front().suggestions.front().peak_reserved;
    for (const SuggestedEdit& edit : single_edits()) try_edits({edit});
    if (rest_ != RestOfStep::unknown || none_serves()) search_settings();
    if (none_serves()) {
      try_pairs();
      search_settings();
    }
    for (Candidate& candidate : candidates_) {
      found.tried += candidate.suggestions.size();
      Suggestion& best = *std::ranges::min_element(candidate.suggestions, {}, [](const auto& s) {
        return std::tuple(!s.serves, s.peak_reserved);
      });
      best.saved = base_ - std::min(base_, best.peak_reserved);
      found.suggestions.push_back(std::move(best));
    }
    found.settings = settings_.searched();
    found.settings.left = left_;
    drop_alike(found.suggestions);
    sort(found.suggestions);
    return found;
  }

 private:
  static bool serves(const Candidate& candidate) {
    return std::ranges::any_of(candidate.suggestions, &Suggestion::serves);
  }

  bool none_serves() const { return std::ranges::none_of(candidates_, serves); }

  // Whether the allocator is PyTorch's, and nobody chose settings.
  bool settings_are_open() const {
    const std::string name = usual_strategy(*chosen_.recording).name;
    return question_.strategies.empty() && (name == "recorded" || name == "torch");
  }

  std::vector<StrategySpec> strategies() const {
    const std::string& release = question_.setup.release;
    std::vector<StrategySpec> usual =
        asked_or_usual(question_.strategies, *chosen_.recording, release);
    const bool expand = chosen_.recording->settings.expandable_segments.value_or(false);
    const bool both = settings_are_open() && !expand;
    if (both) {
      usual.push_back(under_release(parse_strategy("torch:expandable_segments=True"), release));
    }
    return usual;
  }

  using Kind = SuggestedEdit::Kind;

  std::vector<SuggestedEdit> single_edits() const {
    std::vector<SuggestedEdit> all;
    for (std::size_t i = 0; i < std::min(layers_.size(), kLayersTried); ++i) {
      const LayerCode& layer = layers_[i];
      if (question_.checkpoint) add_checkpoints(layer, all);
      if (question_.offload) {
        all.push_back(edit_of(Kind::offload, "offload:" + layer.selector() + ",saved", layer));
      }
    }
    if (question_.offload) all.push_back(edit_of(Kind::offload, "offload:saved", {}));
    return all;
  }

  static SuggestedEdit edit_of(Kind kind, std::string text, const LayerCode& layer) {
    return {.text = std::move(text),
            .kind = kind,
            .code = layer.code,
            .function = layer.function,
            .package = layer.package,
            .calls = layer.calls,
            .called_directly = layer.called_directly};
  }

  // Which runs of a layer are checkpointed is for a loop over them to say.
  static void add_checkpoints(const LayerCode& layer, std::vector<SuggestedEdit>& all) {
    const SuggestedEdit every = edit_of(Kind::checkpoint, "checkpoint:" + layer.selector(), layer);
    all.push_back(every);
    const std::uint32_t most = layer.in_loop ? std::min<std::uint32_t>(layer.instances, 5) : 0;
    for (std::uint32_t k = 2; k < most; ++k) {
      all.push_back(every);
      all.back().text += ",only=" + std::to_string(k);
      all.back().only = k;
    }
    const std::uint32_t most_together = layer.package.empty() ? most : 0;  // no loop of the user's
    for (std::uint32_t k = 2; k < most_together; k += 2) {
      all.push_back(every);
      all.back().text += ",group=" + std::to_string(k);
      all.back().group = k;
    }
  }

  static bool is_checkpoint(const Candidate& candidate) {
    return candidate.edits.front().kind == Kind::checkpoint;
  }

  static std::vector<Edit> parsed(const std::vector<SuggestedEdit>& suggested) {
    std::vector<Edit> edits;
    for (const SuggestedEdit& edit : suggested) edits.push_back(parse_edit(edit.text));
    return edits;
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
    std::vector<std::vector<SuggestedEdit>> pairs;
    for (std::size_t i = 0; i < std::min(by_need.size(), kPairsTried); ++i) {
      for (std::size_t j = i + 1; j < std::min(by_need.size(), kPairsTried); ++j) {
        if (is_checkpoint(*by_need[i]) == is_checkpoint(*by_need[j])) continue;
        pairs.push_back(by_need[i]->edits);
        pairs.back().insert(pairs.back().end(), by_need[j]->edits.begin(), by_need[j]->edits.end());
      }
    }
    for (const std::vector<SuggestedEdit>& pair : pairs) try_edits(pair);
  }

  void try_edits(const std::vector<SuggestedEdit>& edits) {
    if (control_.stopped()) return;
    std::optional<FittedProgram> program;
    try {
      program.emplace(subject_, parsed(edits));
    } catch (const UsageError&) {
      return;  // nothing of it is saved, or left
    }
    const std::vector<EditFacts>& facts = program->made().edits;
    Candidate candidate{edits, {}};
    for (const StrategySpec& spec : strategies_) {
      Suggestion suggestion{
          .edits = edits, .strategy = spec.text, .still_to_come = beyond_.still_to_come(facts)};
      for (const EditFacts& of_edit : facts) {
        suggestion.recomputed += of_edit.recomputed_bytes;
        suggestion.recomputed_requests += of_edit.recomputed_requests;
        suggestion.moved += of_edit.moved_bytes;
        suggestion.remarks.insert(suggestion.remarks.end(), of_edit.remarks.begin(),
                                  of_edit.remarks.end());
      }
      judge_.judge(*program, spec, suggestion);
      candidate.suggestions.push_back(std::move(suggestion));
    }
    if (control_.stopped()) return;  // the last replay was no whole one
    candidates_.push_back(std::move(candidate));
    control_.show("trying edits", 0.5);
  }

  // A setting costs nothing: the cheapest programs that are not served come first, and none that is
  // as dear as one that is. If there are too many, those that request least.
  void search_settings() {
    if (!settings_are_open()) return;
    std::vector<Candidate*> open;
    for (Candidate& candidate : candidates_) {
      const bool may_fit = judge_.may_fit(candidate.suggestions.front());
      if (!serves(candidate) && !candidate.searched && may_fit) open.push_back(&candidate);
    }
    std::ranges::stable_sort(open, {}, [](const Candidate* candidate) {
      return candidate->suggestions.front().peak_requested;
    });
    const auto looked_at =
        open.begin() + static_cast<std::ptrdiff_t>(std::min(open.size(), kProgramsSearched));
    std::ranges::stable_sort(open.begin(), looked_at, {}, &Candidate::price);
    for (auto candidate = open.begin(); candidate != looked_at; ++candidate) {
      if ((*candidate)->price() < cheapest_that_serves()) search_settings(**candidate);
    }
    left_ = 0;
    for (const Candidate* candidate : open) {
      left_ += !candidate->searched && candidate->price() < cheapest_that_serves() ? 1 : 0;
    }
  }

  void search_settings(Candidate& candidate) {
    if (!settings_.goes_on()) return;
    candidate.searched = true;
    const FittedProgram program(subject_, parsed(candidate.edits));
    auto suggestion = settings_.search(program, candidate.suggestions.front());
    if (suggestion) candidate.suggestions.push_back(*std::move(suggestion));
  }

  Bytes cheapest_that_serves() const {
    Bytes cheapest = UINT64_MAX;
    for (const Candidate& candidate : candidates_) {
      if (serves(candidate)) cheapest = std::min(cheapest, candidate.price());
    }
    return cheapest;
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

  // The cheapest that fit first, but where the rest is unknown those that leave most for it; then
  // those that save most for their price.
  void sort(std::vector<Suggestion>& suggestions) const {
    const auto worth = [](const Suggestion& s) {
      const auto price = static_cast<double>(s.price());
      return price > 0 ? static_cast<double>(s.saved) / price : 0;
    };
    std::ranges::stable_sort(suggestions, [&](const Suggestion& a, const Suggestion& b) {
      if (a.serves != b.serves) return a.serves;
      if (rest_ == RestOfStep::unknown) {
        return a.peak_reserved + a.still_to_come < b.peak_reserved + b.still_to_come;
      }
      if (a.serves) {
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
  RestOfStep rest_;
  BudgetJudge judge_;
  FittingSettings settings_;
  std::vector<LayerCode> layers_;
  BeyondFailure beyond_;
  std::vector<StrategySpec> strategies_;
  std::vector<Candidate> candidates_;
  Bytes base_ = 0;
  std::uint64_t left_ = 0;  ///< programs for which settings were not searched any more
};

SuggestedDevice suggested(const Chosen& chosen, const SuggestQuestion& question,
                          const Control& control) {
  const Subject subject = chosen.subject(control);
  Setup setup = question.setup;
  setup.capacity = question.budget;
  const SizedDevice device = sized_for(subject, setup);
  if (!device.options.capacity) {
    throw UsageError(chosen.recording->path +
                     ": no recorded failure shows how large the device is; add --budget SIZE");
  }
  if (!requests_anything(*chosen.trace)) {
    return {.trace = summarise(chosen), .device = summarise(device), .nothing_requested = true};
  }
  const auto completed = with_rest_of_step(subject);
  std::optional<Subject> rest;
  if (completed) {
    const MadeRecording& made = completed->made;
    rest.emplace(made.recording, made.trace(), made.origin);
  }
  const Subject& whole = rest ? *rest : subject;
  const RecordingFacts facts = facts_of(subject.recording(), subject.trace());
  const RestOfStep step = facts.whole() ? RestOfStep::recorded
                          : completed   ? RestOfStep::as_before
                                        : RestOfStep::unknown;
  SuggestedDevice found =
      EditSearch(chosen, whole, facts, step, question, *device.options.capacity, control).search();
  found.rest = step;
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
