#include "analysis/edit/block_edits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "analysis/edit/code_instances.hpp"
#include "analysis/edit/program_course.hpp"
#include "core/error.hpp"
#include "core/units.hpp"

namespace memreplay {
namespace {

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
    if (facts_.blocks == 0) refuse(edit_, "nothing of that is saved for a backward pass");
    move_out();
    bring_back();
    const auto& how = std::get<OffloadEdit>(edit_.what);
    facts_.edit = edit_.text;
    facts_.moved_bytes = facts_.bytes * 2;
    facts_.remarks.emplace_back(
        "Parameters that operations save are moved as well, and a block that several of them save "
        "is moved for each: neither is in a recording.");
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
      refuse(edit_, "it enlarges blocks from before the recording, which lie where they lie");
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

}  // namespace memreplay
