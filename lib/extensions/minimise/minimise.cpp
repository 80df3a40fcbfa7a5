#include "extensions/minimise/minimise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <map>
#include <numeric>
#include <tuple>

#include "core/text.hpp"
#include "extensions/minimise/story.hpp"

namespace memreplay {
namespace {

/// What a replay costs beside its events, in events.
constexpr std::uint64_t kCostOfReplay = 500;
/// An event has up to two places in a story.
constexpr std::uint64_t kMostEventsOfStory = 1'000'000'000;
/// Into how many parts the first rounds cut at most; later ones cut finer.
constexpr std::size_t kFirstParts = 64;
constexpr std::size_t kFiner = 8;
/// Blocks that take the room of others, at most.
constexpr std::size_t kMostFillers = 6;
constexpr double kShareOfGap = 0.95;

/// Which of some changes are made.
using MadeChanges = std::vector<std::uint8_t>;

/// When the reserved peak was reached.
class PeakWatch final : public Watcher {
 public:
  void on_event(const EventState& state, const Strategy&) override {
    if (state.peak_reserved > peak_) at_ = state.event;
    peak_ = std::max(peak_, state.peak_reserved);
  }
  std::uint64_t at() const { return at_; }

 private:
  Bytes peak_ = 0;
  std::uint64_t at_ = 0;
};

Kept kind_of(const OomPlace& oom) {
  if (oom.free < oom.requested) return Kept::shortage;
  return oom.largest_free < oom.requested ? Kept::fragmentation : Kept::unusable;
}

Bytes gap_of(const RunMetrics& metrics) {
  return metrics.peak_reserved > metrics.peak_allocated ? metrics.gap() : 0;
}

class Minimiser {
 public:
  Minimiser(const Subject& subject, const StrategySpec& spec, const MinimiseOptions& options)
      : subject_(subject), spec_(spec), options_(options) {
    plain_.path = subject.recording().path;
    plain_.format = "csv";
    plain_.texts = subject.recording().texts;
    if (subject.trace().size() > kMostEventsOfStory) {
      throw NothingToMinimise(fmt::format("{} has {} events; expected {} at most", plain_.path,
                                          human_count(subject.trace().size()),
                                          human_count(kMostEventsOfStory)));
    }
  }

  Minimised run(const StrategySpec& original) {
    look_at_original(original);
    tell();
    std::size_t parts = kFirstParts;
    for (;;) {
      const std::uint64_t before = story_.events();
      drop_blocks(parts);
      drop_marks(parts);
      for (const Joint joint : kJoints) join_blocks(parts, joint);
      simplify_frees(parts);
      if (!result_.summary.finished) break;
      const bool finest = parts >= story_.blocks.size() + story_.marks.size();
      const std::uint64_t after = story_.events();
      if (finest && after == before) break;
      // Joining goes on halving; finer parts only where that has come to its end.
      if (after > before / 2) parts *= kFiner;
    }
    result_.trace = trace_of(story_, subject_.trace());
    result_.summary.events = result_.trace.size();
    result_.summary.after = replay_of(story_).metrics;
    result_.summary.shown_by = spec_.text;
    return std::move(result_);
  }

 private:
  void look_at_original(const StrategySpec& original) {
    ReplayOptions replaying = options_.replaying;
    replaying.stops.at_oom = options_.keep != Keep::gap;
    replaying.stops.cancelled = nullptr;  // without it there is nothing to go on with
    const Contender contender(subject_, original, replaying.program);
    result_.summary.before = replay(contender, replaying).result.metrics;
    result_.summary.events_before = subject_.trace().size();
    const auto& oom = result_.summary.before.first_oom;
    result_.summary.kept = oom && options_.keep != Keep::gap ? kind_of(*oom) : Kept::gap;
    if (options_.keep == Keep::oom && !oom) {
      throw NothingToMinimise(
          fmt::format("{} serves every request here; no OOM to keep", original.text));
    }
    if (result_.summary.kept == Kept::gap && gap_of(result_.summary.before) == 0) {
      throw NothingToMinimise(fmt::format(
          "{} has no OOM and no gap between reserved and allocated here; nothing to keep",
          original.text));
    }
  }

  /// The story up to what is to be kept, with which it must still be there.
  void tell() {
    ProgramOptions telling = options_.replaying.program;
    if (result_.summary.kept != Kept::gap &&
        result_.summary.before.first_oom->event + 1 < telling.to) {
      telling.to = result_.summary.before.first_oom->event + 1;
    }
    story_ = story_of(program_of(subject_, telling));
    result_.summary.pool_ends = story_.pool_ends;
    result_.summary.unfinished_frees = story_.unfinished_frees;
    needs_no_oom_ = result_.summary.kept == Kept::gap && result_.summary.before.ooms == 0;
    PeakWatch watch;
    const RunMetrics m = replay_of(story_, &watch).metrics;
    const bool there = result_.summary.kept == Kept::gap
                           ? keeps_gap(m)
                           : m.first_oom && m.first_oom->requested == requested() &&
                                 kind_of(*m.first_oom) == result_.summary.kept;
    if (!there) refuse();
    cut_after(result_.summary.kept == Kept::gap ? watch.at() : m.first_oom->event);
  }

  Bytes requested() const { return result_.summary.before.first_oom->requested; }

  bool keeps_gap(const RunMetrics& m) const {
    return static_cast<double>(gap_of(m)) >=
               kShareOfGap * static_cast<double>(gap_of(result_.summary.before)) &&
           !(needs_no_oom_ && m.ooms > 0);
  }

  /// Leaves out what comes after this event of the story's trace.
  void cut_after(std::uint64_t event) {
    compact(story_);  // place and event are the same
    const auto last = static_cast<EditableTrace::Place>(event);
    std::erase_if(story_.blocks, [&](const EditableTrace::Block& b) { return b.born > last; });
    std::erase_if(story_.marks, [&](const EditableTrace::Mark& m) { return m.place > last; });
    for (EditableTrace::Block& block : story_.blocks) {
      if (block.is_freed() && block.completed > last)
        block.freed = block.completed = EditableTrace::kNever;
    }
    compact(story_);
    const bool ends_in_request =
        !story_.blocks.empty() && story_.blocks.back().born + 1 == story_.places;
    if (result_.summary.kept != Kept::gap && !ends_in_request) {
      throw NothingToMinimise(
          fmt::format("{} under {}: the failure is not a request but the return of a moved block",
                      plain_.path, spec_.text));
    }
    if (!still_shows(story_) && result_.summary.finished) refuse();
  }

  [[noreturn]] void refuse() const {
    throw NothingToMinimise(
        fmt::format("{} under {}: its result does not follow from allocations and frees alone "
                    "(private pools, a start that was taken over, frees that wait at the end)",
                    plain_.path, spec_.text));
  }

  /// How a story went, and what is free at its end.
  struct Outcome {
    RunMetrics metrics;
    Bytes free = 0;
    Bytes largest_free = 0;
  };

  Outcome replay_of(const EditableTrace& story, Watcher* watcher = nullptr) {
    const Trace trace = trace_of(story, subject_.trace());
    const Subject subject(plain_, trace);
    ReplayOptions replaying = options_.replaying;
    replaying.program = {};
    replaying.stops = {.at_oom = result_.summary.kept != Kept::gap || needs_no_oom_};
    replaying.watcher = watcher;
    const Contender contender(subject, spec_, replaying.program);
    const auto [result, trial] = replay(contender, replaying);
    ++result_.summary.replays;
    Outcome outcome{result.metrics};
    const FreeSpace space = trial->strategy().free_space();
    const Bytes outside = std::min(trial->device_free(), space.obtainable);
    outcome.free = space.total + outside;
    outcome.largest_free = std::max(space.largest, outside);
    spent_ += outcome.metrics.events + kCostOfReplay;
    return outcome;
  }

  /// `outcome` is filled in where there was a replay.
  bool still_shows(const EditableTrace& story, Outcome* outcome = nullptr) {
    if (options_.trying) options_.trying(story_.events());
    const std::atomic<bool>* cancelled = options_.replaying.stops.cancelled;
    if ((cancelled && cancelled->load()) || spent_ >= options_.budget) {
      result_.summary.finished = false;
      return false;
    }
    const Outcome replayed = replay_of(story);
    if (outcome != nullptr) *outcome = replayed;
    const RunMetrics& m = replayed.metrics;
    if (result_.summary.kept == Kept::gap) return keeps_gap(m);
    // The request in question is the last event, and alone has its place.
    const bool shows = m.first_oom && m.first_oom->event + 1 == story.events() &&
                       kind_of(*m.first_oom) == result_.summary.kept;
    if (shows) free_ = m.first_oom->free;
    return shows;
  }

  /// Makes as many of the changes as leave what is to be kept: all of them, or in parts cut finer
  /// and finer. `made` gives the story with those that are chosen.
  template <typename Made>
  void sweep(std::size_t changes, std::size_t most_parts, const Made& made) {
    if (changes == 0) return;
    MadeChanges chosen(changes, 0);
    bool any = false;
    filler_ = {};
    const std::size_t smallest = std::max<std::size_t>(1, changes / most_parts);
    for (std::size_t part = changes;; part = (part + 1) / 2) {
      for (std::size_t from = 0; from < changes && result_.summary.finished; from += part) {
        any |= try_part(chosen, from, std::min(from + part, changes), made);
      }
      if (part <= smallest || !result_.summary.finished) break;
    }
    if (!any) return;
    story_ = filled(made(chosen), filler_);
    compact(story_);
  }

  template <typename Made>
  bool try_part(MadeChanges& chosen, std::size_t from, std::size_t to, const Made& made) {
    const auto begin = chosen.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end = chosen.begin() + static_cast<std::ptrdiff_t>(to);
    if (std::all_of(begin, end, [](std::uint8_t one) { return one != 0; })) return false;
    const MadeChanges before(begin, end);
    std::fill(begin, end, std::uint8_t{1});
    const EditableTrace bare = made(chosen);
    if (shows_filled(bare, filler_)) return true;
    if (may_fill_ && fill_instead(bare, to - from)) return true;
    std::ranges::copy(before, begin);
    return false;
  }

  bool shows_filled(const EditableTrace& bare, const Filler& filler) {
    EditableTrace candidate = filled(bare, filler);
    compact(candidate);
    return still_shows(candidate, &last_);
  }

  /// What is free now and was not, where the request was served.
  Bytes left_over() const {
    const Bytes free = last_.free + story_.blocks.back().size;
    return last_.metrics.ooms == 0 && free > free_ ? free - free_ : 0;
  }

  /// In the place of `dropped` blocks: the first block larger, or fewer blocks, of sizes that
  /// allocators do not round.
  bool fill_instead(const EditableTrace& bare, std::size_t dropped) {
    const Bytes more = left_over();
    if (more == 0) return false;
    const Outcome served = last_;
    Filler filler = filler_;
    filler.growth += more;
    bool shows = shows_filled(bare, filler);
    if (!shows) {
      filler = filler_;
      Bytes rest = more;
      for (std::size_t n = 1; !shows && rest > 0 && n < dropped && n <= kMostFillers; ++n) {
        filler.blocks.push_back(std::bit_floor(rest));
        shows = shows_filled(bare, filler);
        rest = left_over();
      }
    }
    if (shows) filler_ = std::move(filler);
    if (shows) return true;
    last_ = served;
    return fill_late(bare, dropped);
  }

  /// Takes the pieces in which the request still finds room, and leaves it those in which it does
  /// not.
  bool fill_late(const EditableTrace& bare, std::size_t dropped) {
    if (result_.summary.kept == Kept::shortage || dropped < 2) return false;
    Filler filler = filler_;
    for (std::size_t n = 1; n < dropped && n <= kMostFillers && left_over() > 0; ++n) {
      filler.late.push_back(std::max(last_.largest_free, story_.blocks.back().size));
      if (!shows_filled(bare, filler)) continue;
      filler_ = std::move(filler);
      return true;
    }
    return false;
  }

  /// The block that is refused stays as it is.
  std::size_t changeable_blocks() const {
    return result_.summary.kept == Kept::gap ? story_.blocks.size() : story_.blocks.size() - 1;
  }

  void drop_blocks(std::size_t parts) {
    may_fill_ = result_.summary.kept != Kept::gap;
    sweep(changeable_blocks(), parts, [&](const MadeChanges& chosen) {
      EditableTrace story{.lanes = story_.lanes, .marks = story_.marks, .places = story_.places};
      for (std::size_t i = 0; i < story_.blocks.size(); ++i) {
        if (i >= chosen.size() || !chosen[i]) story.blocks.push_back(story_.blocks[i]);
      }
      return story;
    });
    may_fill_ = false;
  }

  void drop_marks(std::size_t parts) {
    sweep(story_.marks.size(), parts, [&](const MadeChanges& chosen) {
      EditableTrace story{.lanes = story_.lanes, .blocks = story_.blocks, .places = story_.places};
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        if (!chosen[i]) story.marks.push_back(story_.marks[i]);
      }
      return story;
    });
  }

  /// Frees that need not be, and waits before them.
  void simplify_frees(std::size_t parts) {
    const auto all = [&](auto concerns, auto change) {
      std::vector<std::size_t> blocks;
      for (std::size_t i = 0; i < story_.blocks.size(); ++i) {
        if (concerns(story_.blocks[i])) blocks.push_back(i);
      }
      sweep(blocks.size(), parts, [&](const MadeChanges& chosen) {
        EditableTrace story = story_;
        for (std::size_t i = 0; i < chosen.size(); ++i) {
          if (chosen[i]) change(story.blocks[blocks[i]]);
        }
        return story;
      });
    };
    all([](const EditableTrace::Block& block) { return block.is_freed(); },
        [](EditableTrace::Block& block) { block.freed = block.completed = EditableTrace::kNever; });
    all([](const EditableTrace::Block& block) { return block.waits(); },
        [](EditableTrace::Block& block) { block.freed = block.completed; });
  }

  /// Neighbours in time of one lane, both among blocks that are freed and among those that are not.
  std::vector<std::pair<std::size_t, std::size_t>> neighbours() const {
    using Kind = std::tuple<std::uint16_t, std::uint8_t, bool>;
    std::map<Kind, std::size_t> waiting;
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (std::size_t i = 0; i < changeable_blocks(); ++i) {
      const EditableTrace::Block& block = story_.blocks[i];
      const Kind kind{block.lane, block.align_log2, block.is_freed()};
      const auto [other, alone] = waiting.try_emplace(kind, i);
      if (alone) continue;
      pairs.emplace_back(other->second, i);
      waiting.erase(other);
    }
    return pairs;
  }

  void join_blocks(std::size_t parts, Joint joint) {
    const auto pairs = neighbours();
    sweep(pairs.size(), parts, [&](const MadeChanges& chosen) {
      EditableTrace story = story_;
      std::vector<std::uint8_t> gone(story.blocks.size(), 0);
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (!chosen[i]) continue;
        const auto [first, second] = pairs[i];
        gone[second] = join(story.blocks[first], story.blocks[second], joint);
      }
      std::size_t next = 0;
      std::erase_if(story.blocks, [&](const EditableTrace::Block&) { return gone[next++] != 0; });
      return story;
    });
  }

  const Subject& subject_;
  const StrategySpec& spec_;
  const MinimiseOptions& options_;
  Recording plain_;
  EditableTrace story_;
  Minimised result_;
  Outcome last_;    ///< the previous replay's
  Bytes free_ = 0;  ///< at the OOM of the story so far
  Filler filler_;   ///< the sweep's, so far
  bool may_fill_ = false;
  bool needs_no_oom_ = false;
  std::uint64_t spent_ = 0;
};

}  // namespace

Minimised minimise(const Subject& subject, const StrategySpec& spec, const StrategySpec& shown_by,
                   const MinimiseOptions& options) {
  return Minimiser(subject, shown_by, options).run(spec);
}

}  // namespace memreplay
