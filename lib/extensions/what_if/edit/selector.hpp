#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program/lives.hpp"

namespace memreplay {

struct Recording;
struct SelectedBlocks;
struct Trace;

/// Lines of a file: "models.py:47-49". A frame lies there when its file ends so, folders whole.
struct CodeLines {
  std::string file;
  std::uint32_t first = 0;
  std::uint32_t last = 0;  ///< included
};

/// What a block is to a program that trains, after torch.profiler's memory view. Told by lifetimes
/// and stacks: the recording does not state it.
enum class Category : std::uint8_t { parameter, optimizer_state, gradient, activation, temporary };

/// Which blocks are meant. All that is given has to hold; one of several code lines suffices.
struct Selector {
  std::vector<CodeLines> code;
  std::optional<std::string> function;  ///< the name of a frame's function
  std::optional<std::string> stack;     ///< within some "FILE:LINE FUNCTION"
  std::optional<Category> category;
  std::optional<std::string> phase;  ///< asked for within a scope of that name; "step *" for many
  Bytes at_least = 0;                ///< bytes requested
  Bytes below = UINT64_MAX;
  std::optional<std::uint32_t> stream;
  std::optional<std::uint64_t> step;  ///< counted from 1; 0: before the first one
  bool saved = false;                 ///< asked for in one phase and freed in a later one
  std::uint64_t lives_at_least = 0;   ///< events from birth to free; never freed is longest

  /// Code is meant, not single blocks.
  bool names_code() const { return !code.empty() || function.has_value(); }
};

/// Takes KEY=VALUE, or a word, where it is one of a selector; false where it is none. Throws
/// UsageError "OPTION: …" where the value is not one.
bool take_selector(const std::string& option, const std::string& part, Selector& selector);

/// Which frames a selector's code means.
class CodeFrames {
 public:
  CodeFrames(const Recording& recording, const Selector& selector);
  bool matches(const Frame& frame) const;

 private:
  const Recording& recording_;
  const Selector& selector_;
};

/// The blocks that are meant, in their order. Throws UsageError where the recording lacks what they
/// are told by. O(events + stacks).
std::vector<std::uint32_t> selected(const Recording& recording, const Trace& trace,
                                    const BlockLives& lives, const Selector& selector);

/// What a selector picks of a trace. O(events + places log places).
SelectedBlocks selection_of(const Recording& recording, const Trace& trace,
                            const Selector& selector);

}  // namespace memreplay
