#include "analysis/edit/code_instances.hpp"

#include <map>
#include <utility>

namespace memreplay {
namespace {

/// A stack, cut at its outermost frame in the code.
struct CutStack {
  bool matches = false;
  std::uint32_t inner = 0;  ///< number of the lines from the innermost frame to that one
  std::uint32_t outer = 0;  ///< number of those beyond
};

class Cutter {
 public:
  Cutter(const Recording& recording, const Selector& code)
      : recording_(recording), code_(recording, code) {
    for (const std::vector<std::uint32_t>& stack : recording.stacks) cuts_.push_back(cut(stack));
    if (cuts_.empty()) cuts_.emplace_back();
  }

  const CutStack& operator[](std::uint32_t stack) const { return cuts_[stack]; }

 private:
  using Lines = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

  CutStack cut(const std::vector<std::uint32_t>& stack) {
    std::size_t outermost = stack.size();
    for (std::size_t i = stack.size(); i-- > 0 && outermost == stack.size();) {
      if (code_.matches(recording_.frames[stack[i]])) outermost = i;
    }
    if (outermost == stack.size()) return {};
    return {true, number_of(stack, 0, outermost + 1),
            number_of(stack, outermost + 1, stack.size())};
  }

  std::uint32_t number_of(const std::vector<std::uint32_t>& stack, std::size_t from,
                          std::size_t to) {
    Lines lines;
    for (std::size_t i = from; i < to; ++i) {
      const Frame& frame = recording_.frames[stack[i]];
      lines.emplace_back(frame.file, frame.line);
    }
    return numbers_.try_emplace(std::move(lines), numbers_.size()).first->second;
  }

  const Recording& recording_;
  CodeFrames code_;
  std::map<Lines, std::uint32_t> numbers_;
  std::vector<CutStack> cuts_;  ///< by stack
};

}  // namespace

std::vector<CodeInstance> instances_of(const Recording& recording, const Trace& trace,
                                       const std::vector<std::uint64_t>& allocations,
                                       const Passes& passes, const Selector& code) {
  const Cutter cuts(recording, code);
  std::vector<CodeInstance> instances;
  const CutStack* first = nullptr;     // of the instance that goes on; null: none does
  const CutStack* previous = nullptr;  // of the allocation before
  std::uint32_t run = 0;
  std::uint32_t step = 0;
  bool in_backward = false;
  for (std::uint32_t i = 0; i < allocations.size(); ++i) {
    const std::uint32_t stack = stack_at(trace, allocations[i]);
    const CutStack& cut = cuts[stack];
    if (!cut.matches) {
      run += static_cast<std::uint32_t>(first != nullptr);
      first = previous = nullptr;
      in_backward |= passes.is_backward(stack) && !instances.empty();
      continue;
    }
    // Where an instance begins, the line of the code decreases or its caller is another.
    const bool again = first == nullptr || cut.outer != first->outer ||
                       (cut.inner == first->inner && previous->inner != cut.inner);
    if (again) {
      step += static_cast<std::uint32_t>(std::exchange(in_backward, false));
      CodeInstance next{.first = i, .run = run, .step = step};
      if (!instances.empty()) {
        const CodeInstance& before = instances.back();
        if (before.step == step) next.place = before.place + 1;
        if (before.run == run && before.step == step) next.place_in_run = before.place_in_run + 1;
      }
      instances.push_back(next);
      first = &cut;
    }
    instances.back().last = i + 1;
    previous = &cut;
  }
  return instances;
}

}  // namespace memreplay
