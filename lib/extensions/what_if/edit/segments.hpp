#pragma once

#include <cstdint>
#include <vector>

#include "extensions/what_if/edit/edit.hpp"
#include "program/program_course.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// Layers that are checkpointed as one, by places in the list of allocations.
struct Segment {
  std::uint32_t first = 0;
  std::uint32_t last = 0;  ///< one past its last
  std::uint32_t step = 0;

  std::uint32_t output = BlockLives::kNone;      ///< block
  std::vector<std::uint32_t> blocks;             ///< asked for in it, by birth
  std::vector<bool> saved;                       ///< by block: its backward frees it
  std::uint64_t first_free = BlockLife::kNever;  ///< the first free of a saved block
  std::uint64_t last_free = 0;
  std::uint64_t again = BlockLife::kNever;  ///< the request before which it is computed again
  bool saves_output = false;                ///< its own backward needs the output

  bool is_checkpointed() const;  ///< something is saved
  bool has_backward() const { return first_free != BlockLife::kNever; }
};

/// The one that begins (`&Segment::first`) or ends (`&Segment::last`) at this place; null: none.
/// O(log segments), which are in the order of their places.
const Segment* found_at(const std::vector<Segment>& segments, std::uint32_t place,
                        std::uint32_t Segment::*member);

struct Segments {
  std::vector<Segment> segments;
  std::vector<Segment> inner;           ///< within these, where there are groups within groups
  std::vector<std::uint64_t> backward;  ///< by step: the event with which its backward begins
  std::size_t layers = 0;               ///< runs of the code
};

/// What `edit` would checkpoint of the program: where its code ran, what it returns and saves, and
/// where the backward pass would compute it again. O(events + segments · their backward).
Segments segments_of(const ProgramCourse& course, const Selector& code, const CheckpointEdit& edit);

// What the backward of an operation of PyTorch needs, by the Python frames of who asked for its
// memory. False of what shows none of those that are known.

/// The shape of its input alone.
bool needs_no_input(const Recording& recording, std::uint32_t stack);

/// Not what it returned.
bool needs_no_result(const Recording& recording, std::uint32_t stack);

/// Its weights, which it saves before it asks for memory.
bool saves_weights(const Recording& recording, std::uint32_t stack);

}  // namespace memreplay
