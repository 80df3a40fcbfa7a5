#include "analysis/edit/block_edits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/edit/code_instances.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "program/program_course.hpp"

namespace memreplay {
namespace {

// What dies at one place does so in this order.
enum DeathOrder : std::uint32_t { kInternal, kOperand, kLocal };

/// Successive allocations of one stack: one operation.
struct Group {
  std::size_t from = 0;
  std::size_t to = 0;
  std::vector<Frame> frames;  ///< the outermost first
};

bool same_code(const Frame& a, const Frame& b) { return a.name == b.name && a.file == b.file; }

/// Where the last variable, argument or operand of each block ends.
class DeathScopes {
 public:
  DeathScopes(const Recording& recording, const BlockLives& lives, const AskedBlocks& asked,
              const std::vector<bool>& saved, std::uint64_t end, bool rebound)
      : lives_(lives), allocations_(asked.blocks), saved_(saved), end_(end), rebound_(rebound) {
    for (std::size_t i = 0; i < allocations_.size(); ++i) {
      if (i > 0 && asked.operations[i] == asked.operations[i - 1]) {
        groups_.back().to = i + 1;
        continue;
      }
      Group group{i, i + 1, {}};
      const std::vector<std::uint32_t>& numbers = recording.stacks[life(i).stack];
      for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
        group.frames.push_back(recording.frames[*number]);
      }
      groups_.push_back(std::move(group));
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (std::size_t i = groups_[g].from; i < groups_[g].to; ++i) {
        if (saved_[i]) last_beside_[requests_before(life(i).freed)] = g;
      }
    }
  }

  std::vector<Death> find() const {
    std::vector<Death> deaths;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const std::size_t value = value_of(g);
      for (std::size_t i = groups_[g].from; i < groups_[g].to; ++i) {
        if (!saved_[i]) continue;
        const Spot spot = i == value ? end_of_value(g) : behind(g, kInternal);
        deaths.push_back({allocations_[i], std::max(spot, behind(last_beside(i), kInternal))});
      }
    }
    return deaths;
  }

 private:
  const BlockLife& life(std::size_t i) const { return lives_.blocks[allocations_[i]]; }

  // Blocks from before the first event come first.
  std::size_t requests_before(std::uint64_t event) const {
    const auto next = std::ranges::partition_point(lives_.blocks, [&](const BlockLife& block) {
      return block.existed_before() || block.born < event;
    });
    return static_cast<std::size_t>(next - lives_.blocks.begin());
  }

  // What a backward frees without a request between was saved by one operation, when the last of
  // it was there.
  std::size_t last_beside(std::size_t i) const {
    return life(i).freed == BlockLife::kNever ? 0 : last_beside_.at(requests_before(life(i).freed));
  }

  // The largest block that is alive when the operation ends, the latest among equals.
  std::size_t value_of(std::size_t g) const {
    const std::uint64_t ends = g + 1 < groups_.size() ? life(groups_[g].to).born : end_;
    std::size_t value = groups_[g].to;
    for (std::size_t i = groups_[g].from; i < groups_[g].to; ++i) {
      if (!saved_[i] && life(i).freed < ends) continue;
      if (value == groups_[g].to || life(i).size >= life(value).size) value = i;
    }
    return value;
  }

  std::uint64_t last_event(std::size_t g) const { return life(groups_[g].to - 1).born; }

  Spot behind(std::size_t g, std::uint32_t order) const {
    return {std::min(last_event(g) + 1, end_), order};
  }

  Spot before_group(std::size_t g, std::uint32_t order) const {
    if (g >= groups_.size()) return {end_, order};
    return {std::min(life(groups_[g].from).born, end_), order};
  }

  Spot end_of_value(std::size_t g) const {
    if (g + 1 >= groups_.size()) return {end_, kOperand};
    const std::vector<Frame>& here = groups_[g].frames;
    const std::vector<Frame>& next = groups_[g + 1].frames;
    std::size_t j = 0;
    while (j < here.size() && j < next.size() && here[j] == next[j]) ++j;
    const bool local = j < here.size() && j < next.size() && same_code(here[j], next[j]) &&
                       next[j].line > here[j].line;
    if (local && rebound_) return before_group(end_of_line(g + 1, j), kLocal);
    if (local) return before_group(end_of_activation(g + 1, here, j), kLocal);
    if (next.size() > here.size()) {
      return before_group(end_of_activation(g + 1, next, j), kLocal);
    }
    return behind(g + 1, kOperand);
  }

  // The first group after `g` that is not in the same line of its frame `j`.
  std::size_t end_of_line(std::size_t g, std::size_t j) const {
    const std::vector<Frame>& line = groups_[g].frames;
    const auto beyond = line.begin() + static_cast<std::ptrdiff_t>(j) + 1;
    const auto is_in_line = [&](const std::vector<Frame>& frames) {
      return frames.size() > j && std::equal(line.begin(), beyond, frames.begin());
    };
    while (g < groups_.size() && is_in_line(groups_[g].frames)) ++g;
    return g;
  }

  // The first group from `g` on that is not in the activation of frame `j` of this stack.
  std::size_t end_of_activation(std::size_t g, const std::vector<Frame>& stack,
                                std::size_t j) const {
    std::uint32_t line = stack[j].line;  // the previous group's
    for (; g < groups_.size(); ++g) {
      const std::vector<Frame>& frames = groups_[g].frames;
      if (frames.size() <= j || !same_code(frames[j], stack[j])) break;
      // Back where it began: called again. An expression may have smaller lines further on.
      if (frames[j].line < line && frames[j].line <= stack[j].line) break;
      line = frames[j].line;
      if (!std::equal(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(j),
                      stack.begin())) {
        break;
      }
    }
    return g;
  }

  const BlockLives& lives_;
  std::span<const std::uint32_t> allocations_;
  const std::vector<bool>& saved_;
  std::uint64_t end_;
  bool rebound_;
  std::vector<Group> groups_;
  std::map<std::size_t, std::size_t> last_beside_;  ///< group, by the requests before their free
};

[[noreturn]] void refuse(const Edit& edit, const char* why) {
  throw UsageError(fmt::format("--edit {}: {}", edit.text, why));
}

Bytes scaled_by(Bytes size, double factor) {
  return bytes_of(std::round(static_cast<double>(size) * factor));
}

/// Moves what a forward pass saves to the host and back.
class Offloading {
 public:
  Offloading(const Recording& recording, const Trace& trace, const Edit& edit, Deaths deaths)
      : recording_(recording),
        edit_(edit),
        deaths_(deaths),
        course_(recording, trace),
        rewrite_(trace, course_.lives()),
        moved_(course_.lives().blocks.size(), false) {}

  EditedBlocks make() {
    for (const std::uint32_t block :
         selected(recording_, course_.trace(), course_.lives(), edit_.selector)) {
      moved_[block] = course_.passes().is_saved(course_.life(block)) && is_meant(block);
      facts_.blocks += static_cast<std::uint64_t>(moved_[block]);
    }
    if (facts_.blocks == 0) refuse(edit_, "nothing selected is saved for a backward pass");
    move_out();
    bring_back();
    const auto& how = std::get<OffloadEdit>(edit_.what);
    facts_.edit = edit_.text;
    facts_.moved_bytes = facts_.bytes * 2;
    facts_.remarks.emplace_back(
        "Saved parameters are moved too, and a block saved by several operations is moved for "
        "each: a recording shows neither.");
    if (how.bandwidth) {
      facts_.moving_seconds = static_cast<double>(facts_.moved_bytes) / *how.bandwidth;
    }
    return {rewrite_.write(), std::move(facts_)};
  }

 private:
  // In one of the layers that are chosen.
  bool is_meant(std::uint32_t block) {
    const auto& only = std::get<OffloadEdit>(edit_.what).only;
    if (!only) return true;
    if (instances_.empty()) {
      instances_ = instances_of(course_.recording(), course_.trace(), course_.allocations(),
                                course_.passes(), edit_.selector);
    }
    const std::size_t at = course_.allocation_from(course_.life(block).born);
    const auto next = std::ranges::upper_bound(instances_, at, {}, &CodeInstance::first);
    return next != instances_.begin() && std::prev(next)->place % *only == 0;
  }

  // PyTorch's allocator of pinned memory rounds to powers of two.
  Bytes on_host(Bytes size) const {
    return std::get<OffloadEdit>(edit_.what).pinned ? std::bit_ceil(size) : size;
  }

  // A forward pass ends where a backward pass asks for the first time.
  void move_out() {
    std::vector<std::uint32_t> blocks;
    std::vector<std::uint32_t> operations;
    Bytes there = 0;
    const auto end_pass = [&](std::uint64_t end) {
      std::vector<bool> saved;
      for (const std::uint32_t block : blocks) {
        saved.push_back(moved_[block]);
        if (moved_[block]) there += on_host(course_.life(block).size);
      }
      facts_.other_memory_peak = std::max(facts_.other_memory_peak, there);
      there = 0;
      for (const Death& death : deaths_of(course_.recording(), course_.lives(),
                                          {blocks, operations}, saved, end, deaths_)) {
        rewrite_.free_at(death.block, death.spot);
        facts_.bytes += course_.life(death.block).size;
      }
      blocks.clear();
      operations.clear();
    };
    for (std::size_t i = 0; i < course_.allocations().size(); ++i) {
      if (!course_.is_backward(i)) {
        blocks.push_back(course_.block_of(i));
        operations.push_back(course_.operation(i));
      } else if (!blocks.empty()) {
        end_pass(course_.event_of(i));
      }
    }
    end_pass(course_.trace().size());
  }

  // Frees without a request between them are those of one operation of the backward; its saved
  // blocks are there from its first request on, after the frees of the operation before.
  void bring_back() {
    std::uint64_t begins = 0;  // the operation's first request
    bool asked = false;        // the operation made a request
    bool freed = false;        // something saved was freed after that
    const Trace& trace = course_.trace();
    for (std::uint64_t event = 0; event < trace.size(); ++event) {
      if (trace.ops[event] == Op::allocate) {
        if (!asked || freed) begins = event;
        asked = course_.passes().is_backward(stack_at(trace, event));
        freed = false;
        continue;
      }
      const std::uint32_t block = course_.freed_at(event);
      if (block == BlockLives::kNone) continue;
      freed |= course_.passes().is_saved(course_.life(block));
      if (!moved_[block]) continue;
      const std::uint32_t copy = rewrite_.add(block, course_.life(block).size, {begins, kAgain});
      rewrite_.free_at(copy, {event, kAgain});
    }
  }

  static constexpr std::uint32_t kAgain = 16;  ///< after what dies at the same place

  const Recording& recording_;
  const Edit& edit_;
  Deaths deaths_;
  ProgramCourse course_;
  Rewrite rewrite_;
  std::vector<bool> moved_;  ///< by block
  std::vector<CodeInstance> instances_;
  EditFacts facts_;
};

/// What a block becomes.
class BlockChange {
 public:
  BlockChange(const Trace& trace, const BlockLives& lives, const Edit& edit, Rewrite& rewrite)
      : trace_(trace), lives_(lives), edit_(edit), rewrite_(rewrite) {
    for (const SegmentInfo& segment : trace.start.segments) {
      for (const BlockInfo& block : segment.blocks) {
        if (block.state != BlockState::free) rooms_.push_back(block.size);
      }
    }
  }

  void make(std::uint32_t block) {
    block_ = block;
    std::visit([&](const auto& what) { change(what); }, edit_.what);
  }

 private:
  const BlockLife& life() const { return lives_.blocks[block_]; }

  void resize(Bytes size) {
    if (life().existed_before() && size > rooms_[block_]) {
      refuse(edit_, "it enlarges blocks from before the recording, which cannot be moved");
    }
    // A request of no bytes gets no block.
    rewrite_.resize(block_, std::max(size, std::min<Bytes>(life().size, 1)));
  }

  void change(const ScaleEdit& how) { resize(scaled_by(life().size, how.factor)); }

  void change(const DtypeEdit& how) {
    const Bytes from = bytes_of_dtype(how.from);
    resize((life().size * bytes_of_dtype(how.to) + from - 1) / from);
  }

  void change(const DropEdit& /*how*/) {
    if (life().existed_before()) {
      refuse(edit_, "it selects blocks from before the recording, which cannot be left out");
    }
    rewrite_.drop(block_);
  }

  void change(const ShortenEdit& how) {
    const std::uint64_t born = life().existed_before() ? 0 : life().born + 1;
    const std::uint64_t at = born + how.events;
    if (at < std::min<std::uint64_t>(life().freed, trace_.size()))
      rewrite_.free_at(block_, {at, 0});
  }

  // Not of single blocks.
  void change(const CheckpointEdit& /*how*/) {}
  void change(const OffloadEdit& /*how*/) {}
  void change(const AutocastEdit& /*how*/) {}

  const Trace& trace_;
  const BlockLives& lives_;
  const Edit& edit_;
  Rewrite& rewrite_;
  std::vector<Bytes> rooms_;  ///< by block from before the first event
  std::uint32_t block_ = 0;
};

}  // namespace

EditedBlocks offloaded(const Recording& recording, const Trace& trace, const Edit& edit,
                       Deaths deaths) {
  return Offloading(recording, trace, edit, deaths).make();
}

EditedBlocks with_blocks_changed(const Recording& recording, const Trace& trace, const Edit& edit) {
  const BlockLives lives = lives_of(trace);
  Rewrite rewrite(trace, lives);
  BlockChange change(trace, lives, edit, rewrite);
  EditFacts facts{.edit = edit.text};
  for (const std::uint32_t block : selected(recording, trace, lives, edit.selector)) {
    change.make(block);
    ++facts.blocks;
    facts.bytes += lives.blocks[block].size;
  }
  if (facts.blocks == 0) refuse(edit, "no block of this recording is selected");
  return {rewrite.write(), std::move(facts)};
}

std::vector<Death> deaths_of(const Recording& recording, const BlockLives& lives,
                             const AskedBlocks& asked, const std::vector<bool>& saved,
                             std::uint64_t end, Deaths how) {
  if (how == Deaths::by_scope || how == Deaths::rebound) {
    return DeathScopes(recording, lives, asked, saved, end, how == Deaths::rebound).find();
  }
  const std::span<const std::uint32_t> allocations = asked.blocks;
  std::vector<Death> deaths;
  for (std::size_t i = 0; i < allocations.size(); ++i) {
    if (!saved[i]) continue;
    const bool last = i + 1 == allocations.size();
    const bool at_end = how == Deaths::at_the_end || last;
    const std::uint64_t next = last ? end : lives.blocks[allocations[i + 1]].born;
    deaths.push_back({allocations[i], {at_end ? end : std::min(next, end), 0}});
  }
  return deaths;
}

}  // namespace memreplay
