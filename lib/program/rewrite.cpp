#include "program/rewrite.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "program/recorded_device.hpp"

namespace memreplay {
namespace {

/// What is put between two events.
struct Insertion {
  RewritePoint spot;
  bool begins = true;  ///< the block, or ends it
  std::uint32_t block = 0;
};

}  // namespace

/// Writes the new columns; slots are numbered anew.
class RewriteColumns {
 public:
  RewriteColumns(const Trace& origin, const BlockLives& lives) : origin_(origin), lives_(lives) {
    trace_.gpu = origin.gpu;
    trace_.lanes = origin.lanes;
    trace_.streams = origin.streams;
    trace_.pools = origin.pools;
    trace_.start = origin.start;
    trace_.coverage = origin.coverage;
    std::size_t block = 0;
    for (SegmentInfo& segment : trace_.start.segments) {
      for (BlockInfo& there : segment.blocks) {
        if (there.state == BlockState::free) continue;
        there.slot = take_slot(static_cast<std::uint32_t>(block++));
      }
    }
  }

  /// `size_of` takes a block's number.
  template <typename SizeOf>
  void resize_start(SizeOf size_of) {
    std::uint32_t block = 0;
    for (SegmentInfo& segment : trace_.start.segments) {
      for (BlockInfo& there : segment.blocks) {
        if (there.state == BlockState::free) continue;
        there.requested = size_of(block++);
      }
    }
  }

  std::uint64_t size() const { return trace_.size(); }

  /// An event of the origin.
  void copy(std::uint64_t event, std::uint32_t block, Bytes size) {
    const Op op = origin_.ops[event];
    Slot slot = kNoSlot;
    if (block != BlockLives::kNone) {
      slot = op == Op::allocate ? take_slot(block) : slots_[block];
      if (op == Op::free || op == Op::free_completed) free_slots_.push_back(slot);
    }
    add(op, slot, size, origin_.lane_of[event], origin_.align_log2[event]);
    note(event, event, stack_at(origin_, event));
  }

  /// The free of a block at its place of a further one.
  void insert(const Insertion& inserted, std::uint32_t like, Bytes size) {
    const BlockLife& life = lives_.blocks[like];
    const std::uint64_t by = life.existed_before() ? life.freed : life.born;
    const bool known = by < origin_.size();
    const Slot slot = inserted.begins ? take_slot(inserted.block) : slots_[inserted.block];
    if (!inserted.begins) free_slots_.push_back(slot);
    add(inserted.begins ? Op::allocate : Op::free, slot, size, known ? origin_.lane_of[by] : 0,
        known && inserted.begins ? origin_.align_log2[by] : 0);
    note(known ? std::optional(by) : std::nullopt,
         std::min<std::uint64_t>(inserted.spot.before, origin_.size() - 1),
         inserted.begins ? life.stack : 0);
  }

  Trace take() { return std::move(trace_); }

 private:
  Slot take_slot(std::uint32_t block) {
    if (slots_.size() <= block) slots_.resize(std::max<std::size_t>(block + 1, slots_.size() * 2));
    if (free_slots_.empty()) return slots_[block] = trace_.slot_count++;
    slots_[block] = free_slots_.back();
    free_slots_.pop_back();
    return slots_[block];
  }

  void add(Op op, Slot slot, Bytes size, std::uint16_t lane, std::uint8_t align_log2) {
    trace_.ops.push_back(op);
    trace_.slots.push_back(slot);
    trace_.sizes.push_back(size);
    trace_.lane_of.push_back(lane);
    trace_.align_log2.push_back(align_log2);
  }

  /// The cold columns are those of the caller's event, at the time of another one.
  void note(std::optional<std::uint64_t> by, std::uint64_t at, std::uint32_t stack) {
    const auto take = [&](auto column, std::optional<std::uint64_t> event) {
      using T = typename std::remove_reference_t<decltype(origin_.*column)>::value_type;
      const auto& from = origin_.*column;
      if (!from.empty()) (trace_.*column).push_back(event ? from[*event] : T{});
    };
    take(&EventColumns::times_us, at);
    take(&EventColumns::threads, by);
    take(&EventColumns::tags, by);
    take(&EventColumns::freed_before, by);
    take(&EventColumns::upper_end, by);
    if (!origin_.stacks.empty()) trace_.stacks.push_back(stack);
  }

  const Trace& origin_;
  const BlockLives& lives_;
  Trace trace_;
  std::vector<Slot> slots_;  ///< by block
  std::vector<Slot> free_slots_;
};

Rewrite::Rewrite(const Trace& trace, const BlockLives& lives)
    : trace_(trace), lives_(lives), fates_(lives.blocks.size()) {
  for (std::uint32_t block = 0; block < fates_.size(); ++block) {
    fates_[block].size = lives.blocks[block].size;
    fates_[block].like = block;
  }
}

void Rewrite::free_at(std::uint32_t block, RewritePoint spot) {
  fates_[block].freed_as_before = false;
  fates_[block].freed = spot;
}

void Rewrite::keep_forever(std::uint32_t block) {
  fates_[block].freed_as_before = false;
  fates_[block].freed.reset();
}

void Rewrite::drop(std::uint32_t block) { fates_[block].dropped = true; }

void Rewrite::resize(std::uint32_t block, Bytes size) { fates_[block].size = size; }

std::uint32_t Rewrite::add(std::uint32_t like, Bytes size, RewritePoint born) {
  fates_.push_back({.size = size, .freed_as_before = false, .born = born, .like = like});
  return static_cast<std::uint32_t>(fates_.size() - 1);
}

Rewritten Rewrite::write() {
  std::vector<Insertion> insertions;
  for (std::uint32_t block = 0; block < fates_.size(); ++block) {
    const Fate& fate = fates_[block];
    if (fate.dropped) continue;
    if (fate.born) insertions.push_back({*fate.born, true, block});
    if (!fate.freed) continue;
    const bool behind = fate.born ? *fate.born <= *fate.freed
                                  : lives_.blocks[block].existed_before() ||
                                        lives_.blocks[block].born < fate.freed->before;
    if (!behind) throw std::logic_error("a block would be freed before it is requested");
    insertions.push_back({*fate.freed, false, block});
  }
  std::ranges::stable_sort(insertions, {}, &Insertion::spot);

  RewriteColumns columns(trace_, lives_);
  columns.resize_start([&](std::uint32_t block) { return fates_[block].size; });
  Rewritten written;
  written.now.reserve(trace_.size() + 1);
  written.kept.assign(trace_.size(), false);
  auto next = insertions.begin();
  const auto insert_before = [&](std::uint64_t event) {
    for (; next != insertions.end() && next->spot.before <= event; ++next) {
      const Fate& fate = fates_[next->block];
      columns.insert(*next, fate.like, fate.size);
    }
  };
  for (std::uint64_t event = 0; event < trace_.size(); ++event) {
    insert_before(event);
    written.now.push_back(columns.size());
    const Op op = trace_.ops[event];
    if (is_driver_event(op)) continue;
    const std::uint32_t block = lives_.block_of[event];
    if (block != BlockLives::kNone) {
      const Fate& fate = fates_[block];
      if (fate.dropped || (op != Op::allocate && !fate.freed_as_before)) continue;
    }
    written.kept[event] = true;
    const bool sized = block != BlockLives::kNone;
    columns.copy(event, block, sized ? fates_[block].size : trace_.sizes[event]);
  }
  insert_before(UINT64_MAX);
  written.now.push_back(columns.size());
  written.trace = columns.take();
  return written;
}

Reading renumbered(const Reading& reading, const Rewritten& written) {
  const auto now = [&](std::uint64_t event) {
    return event < written.now.size() ? written.now[event] : event;
  };
  Reading renumbered = reading;
  renumbered.corrected.reset();
  renumbered.block_sizes.clear();
  for (ProgramCall& call : renumbered.calls) call.event = now(call.event);
  for (SettingsCall& call : renumbered.settings_calls) call.event = now(call.event);
  renumbered.deferrals.clear();
  for (const Deferral& deferral : reading.deferrals) {
    if (!written.kept[deferral.event]) continue;
    const bool comes = deferral.due != UINT64_MAX;
    renumbered.deferrals.push_back({now(deferral.event), comes ? now(deferral.due) : deferral.due});
  }
  return renumbered;
}

MadeRecording made_recording(const Subject& subject, Rewritten written, std::string why_inexact) {
  Origin origin{.verified = {},
                .room = recorded_room(subject),
                .order = subject.order(),
                .pluggable_pools = subject.pluggable_pools(),
                .why_inexact = std::move(why_inexact)};
  if (const VerifyResult* verified = subject.verified()) {
    origin.verified = *verified;
    origin.verified->reading = renumbered(verified->reading, written);
  }
  const Recording& recorded = subject.recording();
  MadeRecording made{.recording = {.path = recorded.path,
                                   .format = recorded.format,
                                   .detail = recorded.detail,
                                   .traces = {},
                                   .lacks = recorded.lacks,
                                   .why_no_trace = {},
                                   .settings = recorded.settings,
                                   .annotations = recorded.annotations,
                                   .texts = recorded.texts,
                                   .frames = recorded.frames,
                                   .stacks = recorded.stacks,
                                   .text = {}},
                     .origin = std::make_shared<const Origin>(std::move(origin))};
  made.recording.traces.push_back(std::move(written.trace));
  return made;
}

}  // namespace memreplay
