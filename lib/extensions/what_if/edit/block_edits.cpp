#include "extensions/what_if/edit/block_edits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/error.hpp"
#include "core/units.hpp"

namespace memreplay {
namespace {

// What dies at one place does so in this order; locals of inner activations first.
enum DeathOrder : std::uint32_t { kInternal, kOperand, kLocal, kLast = kAfterDeaths - 1 };

std::uint32_t local_at(std::size_t depth) {
  const auto last = static_cast<std::size_t>(kLast);
  return static_cast<std::uint32_t>(last - std::min(depth, last - kLocal));
}

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
        const RewritePoint spot = i == value ? end_of_value(g) : behind(g, kInternal);
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

  // Behind what the operation itself lets go of, such as workspaces.
  RewritePoint behind(std::size_t g, std::uint32_t order) const {
    const std::uint64_t from = life(groups_[g].from).born;
    const std::uint64_t last = last_event(g);
    const auto is_own = [&](std::uint32_t block) {
      return block != BlockLives::kNone && lives_.blocks[block].born >= from &&
             lives_.blocks[block].born <= last;
    };
    std::uint64_t event = last + 1;
    while (event < end_ && is_own(lives_.block_of[event])) ++event;
    return {std::min(event, end_), order};
  }

  RewritePoint before_group(std::size_t g, std::uint32_t order) const {
    if (g >= groups_.size()) return {end_, order};
    return {std::min(life(groups_[g].from).born, end_), order};
  }

  RewritePoint end_of_value(std::size_t g) const {
    if (g + 1 >= groups_.size()) return {end_, kOperand};
    const std::vector<Frame>& here = groups_[g].frames;
    const std::vector<Frame>& next = groups_[g + 1].frames;
    std::size_t j = 0;
    while (j < here.size() && j < next.size() && here[j] == next[j]) ++j;
    const bool local = j < here.size() && j < next.size() && same_code(here[j], next[j]) &&
                       next[j].line > here[j].line;
    if (local && rebound_) return before_group(end_of_line(g + 1, j), local_at(j));
    if (local) return before_group(end_of_activation(g + 1, here, j), local_at(j));
    const bool called = j < here.size() && j < next.size() && !same_code(here[j], next[j]);
    if (called || next.size() > here.size()) {
      return before_group(end_of_activation(g + 1, next, j), local_at(j));
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
