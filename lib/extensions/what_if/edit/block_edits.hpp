#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "extensions/what_if/edit/edit.hpp"
#include "extensions/what_if/edit/forward_passes.hpp"
#include "extensions/what_if/edit/saved_tensors.hpp"
#include "metrics/made_facts.hpp"
#include "program/rewrite.hpp"

namespace memreplay {

/// When the blocks that a forward pass saves for its backward die, had nothing been saved.
enum class Deaths {
  by_scope,    ///< where their last variable, argument or operand ends, told by stacks
  rebound,     ///< the same, but a variable gets another value in the next line
  at_once,     ///< right after the operation that asked for them
  at_the_end,  ///< when the segment ends
};

/// A block with the place at which it dies.
struct Death {
  std::uint32_t block = 0;
  RewritePoint spot;
};

/// Successive allocations.
struct AskedBlocks {
  std::span<const std::uint32_t> blocks;      ///< by birth
  std::span<const std::uint32_t> operations;  ///< by block, see operations_of
};

/// The order of what comes after the deaths at one place.
constexpr std::uint32_t kAfterDeaths = 1U << 16;

/// `saved` tells which of the blocks are to die. None dies after the event `end`.
/// O(allocations · frames) and, by scope, O(groups²) at worst.
std::vector<Death> deaths_of(const Recording& recording, const BlockLives& lives,
                             const AskedBlocks& asked, const std::vector<bool>& saved,
                             std::uint64_t end, Deaths how);

struct EditedBlocks {
  Rewritten written;
  EditFacts facts;
};

/// What the recording leaves open of a program whose saved tensors are moved out.
struct OffloadGuess {
  Deaths deaths = Deaths::rebound;
  HeldInputs inputs = HeldInputs::by_line;
  bool whole_lines = false;  ///< the code is called within it: so are its arguments
  bool once = false;         ///< no tensor is saved by more than one operation
};

/// The trace with torch.autograd.graph.save_on_cpu around what is selected: a saved block dies in
/// the forward as it would if nothing were saved, and each node of the backward asks for copies of
/// what it takes, weights among them. Throws UsageError where nothing that is selected is saved.
/// O(events + allocations · frames + operations · gradients).
EditedBlocks offloaded(const Recording& recording, const Trace& trace, const Edit& edit,
                       const OffloadGuess& guess);

/// The trace with the selected blocks left out, shortened, or of another size. Throws UsageError
/// where nothing is selected. O(events).
EditedBlocks with_blocks_changed(const Recording& recording, const Trace& trace, const Edit& edit);

/// What the recording leaves open of a checkpointed program.
struct CheckpointGuess {
  Deaths deaths = Deaths::by_scope;
  /// An output that its own backward needs is needed by what follows its segment as well.
  bool keeps_outputs = true;
  /// What lives to the end of its segment is returned beside the output, and kept by who called.
  bool returns_more = false;
};

struct Checkpointed {
  Rewritten written;
  EditFacts facts;
  bool open = false;  ///< keeping outputs or not makes a difference
};

/// The trace of the program with torch.utils.checkpoint around the code. In each segment the blocks
/// that its backward frees, but for its output, die in the forward as they would if nothing were
/// saved; the segment's requests are made again right before its backward. With groups within it
/// they are made again once to give these their inputs, and those of each once more before its own
/// backward. Throws UsageError where the code is in no stack, or nothing of it is saved.
/// O(events + segments · their requests).
Checkpointed checkpointed(const Recording& recording, const Trace& trace, const Edit& edit,
                          const CheckpointGuess& guess);

/// The trace of a program in fp32 as it would be with torch.autocast around its forward passes:
/// matrix products, convolutions and attention in half precision, with copies of weights and
/// inputs; norms, softmax and losses in fp32. Throws UsageError where the recording shows no such
/// operation, or runs under autocast already. O(events + operations · gradients).
EditedBlocks autocasted(const Recording& recording, const Trace& trace, const Edit& edit,
                        const AutocastGuess& guess);

}  // namespace memreplay
