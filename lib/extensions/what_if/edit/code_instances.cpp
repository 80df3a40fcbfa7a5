#include "extensions/what_if/edit/code_instances.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace memreplay {
namespace {

/// A stack, cut at its outermost frame in the code.
struct CutStack {
  bool matches = false;
  std::uint32_t inner = 0;  ///< number of the lines from the innermost frame to that one
  std::uint32_t outer = 0;  ///< number of those beyond
  std::uint32_t line = 0;   ///< the line in the code
};

/// What looks like an instance: it begins as the one before.
struct Piece {
  CodeInstance instance;
  std::uint32_t outer = 0;
  std::uint32_t line = 0;  ///< with which it begins
  bool one_line = true;    ///< no other is in it
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
  using Frames = std::span<const std::uint32_t>;  ///< indices into Recording::frames

  /// Equal are those of the same lines, whatever the functions are called.
  struct ByLines {
    const std::vector<Frame>* frames = nullptr;

    bool operator()(Frames a, Frames b) const {
      const auto line = [this](std::uint32_t frame) {
        return std::pair((*frames)[frame].file, (*frames)[frame].line);
      };
      return std::ranges::lexicographical_compare(a, b, {}, line, line);
    }
  };

  CutStack cut(Frames stack) {
    std::size_t beyond = stack.size();
    while (beyond > 0 && !code_.matches(recording_.frames[stack[beyond - 1]])) --beyond;
    if (beyond == 0) return {};
    return {true, number_of(stack.first(beyond)), number_of(stack.subspan(beyond)),
            recording_.frames[stack[beyond - 1]].line};
  }

  std::uint32_t number_of(Frames frames) {
    return numbers_.try_emplace(frames, numbers_.size()).first->second;
  }

  const Recording& recording_;
  CodeFrames code_;
  std::map<Frames, std::uint32_t, ByLines> numbers_{ByLines{&recording_.frames}};
  std::vector<CutStack> cuts_;  ///< by stack
};

/// A line that asks twice in one way, such as `down(act(up(x)))`, looks like two instances; how it
/// is asked, and for how much, repeats with the whole of it.
class LinePieces {
 public:
  LinePieces(const Trace& trace, const std::vector<std::uint64_t>& allocations, const Cutter& cuts)
      : trace_(trace), allocations_(allocations), cuts_(cuts) {}

  /// How many of these pieces of one line are an instance.
  std::size_t together(std::span<const Piece> pieces) const {
    const std::size_t same = period(pieces.size(), [&](std::size_t a, std::size_t b) {
      return are_same(pieces[a].instance, pieces[b].instance);
    });
    if (same < pieces.size() || same == 1) return same;
    std::vector<Calls> calls;
    for (const Piece& piece : pieces) calls.push_back(calls_of(piece.instance));
    return period(pieces.size(), [&](std::size_t a, std::size_t b) {
      return are_alike(calls[a], calls[b], ends_early(pieces[b].instance));
    });
  }

 private:
  using Calls = std::vector<std::uint32_t>;  ///< `inner` of its allocations, each once in a row

  // After so many each `is_like` the one before; all of them where none repeats.
  static std::size_t period(std::size_t pieces, const auto& is_like) {
    for (std::size_t count = 1; 2 * count <= pieces; ++count) {
      std::size_t i = count;
      while (i < pieces && is_like(i - count, i)) ++i;
      if (i == pieces) return count;
    }
    return pieces;
  }

  // It may have been cut off by the end of the recording.
  bool ends_early(const CodeInstance& instance) const {
    return instance.last == allocations_.size();
  }

  std::uint32_t call(std::uint32_t allocation) const {
    return cuts_[stack_at(trace_, allocations_[allocation])].inner;
  }

  Calls calls_of(const CodeInstance& instance) const {
    Calls calls;
    for (std::uint32_t i = instance.first; i < instance.last; ++i) {
      if (calls.empty() || calls.back() != call(i)) calls.push_back(call(i));
    }
    return calls;
  }

  bool are_same(const CodeInstance& a, const CodeInstance& b) const {
    const std::uint32_t length = b.last - b.first;
    if (length > a.last - a.first || (length < a.last - a.first && !ends_early(b))) return false;
    for (std::uint32_t i = 0; i < length; ++i) {
      const Bytes here = trace_.sizes[allocations_[a.first + i]];
      const Bytes there = trace_.sizes[allocations_[b.first + i]];
      if (here != there || call(a.first + i) != call(b.first + i)) return false;
    }
    return true;
  }

  // Layers of several widths, some of which do more, such as the first of each stage of a residual
  // network, whose shortcut is a convolution: all that the one calls, the other calls in that
  // order.
  static bool are_alike(const Calls& a, const Calls& b, bool b_ends_early) {
    if (a == b) return true;
    const Calls& fewer = a.size() < b.size() ? a : b;
    const Calls& more = a.size() < b.size() ? b : a;
    if (b_ends_early && std::ranges::mismatch(a, b).in2 == b.end()) return true;
    std::size_t found = 0;
    for (const std::uint32_t one : more) {
      found += static_cast<std::size_t>(found < fewer.size() && fewer[found] == one);
    }
    return fewer.size() > 1 && found == fewer.size();
  }

  const Trace& trace_;
  const std::vector<std::uint64_t>& allocations_;
  const Cutter& cuts_;
};

void number_places(std::vector<CodeInstance>& instances) {
  for (std::size_t i = 1; i < instances.size(); ++i) {
    const CodeInstance& before = instances[i - 1];
    CodeInstance& instance = instances[i];
    if (before.step != instance.step) continue;
    instance.place = before.place + 1;
    if (before.run == instance.run) instance.place_in_run = before.place_in_run + 1;
  }
}

}  // namespace

std::vector<CodeInstance> instances_of(const Recording& recording, const Trace& trace,
                                       const std::vector<std::uint64_t>& allocations,
                                       const Passes& passes, const Selector& code) {
  const Cutter cuts(recording, code);
  std::vector<Piece> pieces;
  const CutStack* first = nullptr;     // begins the piece under way; null: none is
  const CutStack* previous = nullptr;  // the allocation before
  std::uint32_t run = 0;
  std::uint32_t step = 0;
  bool in_backward = false;
  for (std::uint32_t i = 0; i < allocations.size(); ++i) {
    const std::uint32_t stack = stack_at(trace, allocations[i]);
    const CutStack& cut = cuts[stack];
    if (!cut.matches) {
      run += static_cast<std::uint32_t>(first != nullptr);
      first = previous = nullptr;
      in_backward |= passes.is_backward(stack) && !pieces.empty();
      continue;
    }
    // Where an instance begins, the line of the code decreases or its caller is another. A line
    // that asks in several ways may come back to one of them.
    const bool again = first == nullptr || cut.outer != first->outer ||
                       (cut.inner == first->inner && previous->inner != cut.inner &&
                        (cut.line != previous->line || pieces.back().one_line));
    if (again) {
      step += static_cast<std::uint32_t>(std::exchange(in_backward, false));
      pieces.push_back({{.first = i, .run = run, .step = step}, cut.outer, cut.line});
      first = &cut;
    }
    pieces.back().instance.last = i + 1;
    pieces.back().one_line &= pieces.back().line == cut.line;
    previous = &cut;
  }
  const LinePieces of_lines(trace, allocations, cuts);
  std::vector<CodeInstance> instances;
  for (std::size_t from = 0, to = 0; from < pieces.size(); from = to) {
    const Piece& begin = pieces[from];
    const auto goes_on = [&](const Piece& piece) {
      return piece.line == begin.line && piece.outer == begin.outer &&
             piece.instance.run == begin.instance.run && piece.instance.step == begin.instance.step;
    };
    for (to = from; to < pieces.size() && pieces[to].one_line && goes_on(pieces[to]);) ++to;
    // Where other lines follow, it is the first line of one instance that looks like several.
    const bool others = to < pieces.size() && goes_on(pieces[to]);
    to += static_cast<std::size_t>(others);
    const auto alike = std::span(pieces).subspan(from, to - from);
    const std::size_t together = others ? alike.size() : of_lines.together(alike);
    for (std::size_t i = from; i < to; i += together) {
      instances.push_back(pieces[i].instance);
      instances.back().last = pieces[std::min(i + together, to) - 1].instance.last;
    }
  }
  number_places(instances);
  return instances;
}

}  // namespace memreplay
