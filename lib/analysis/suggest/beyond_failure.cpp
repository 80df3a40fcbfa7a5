#include "analysis/suggest/beyond_failure.hpp"

#include <algorithm>

#include "analysis/edit/passes.hpp"
#include "analysis/edit/selector.hpp"

namespace memreplay {

Bytes BeyondFailure::still_to_come(const std::vector<EditFacts>& edits) const {
  if (!ends_at_oom || saw_backward) return 0;
  Bytes again = 0;
  for (const EditFacts& edit : edits) again = std::max(again, edit.largest_segment);
  return gradients + states * parameters + again;
}

BeyondFailure beyond_failure(const Subject& subject, std::span<const LayerCode> layers,
                             std::uint32_t states) {
  const Trace& trace = subject.trace();
  BeyondFailure found{.states = states};
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

}  // namespace memreplay
