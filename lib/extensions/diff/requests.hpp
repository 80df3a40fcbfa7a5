#pragma once

#include <array>
#include <string>
#include <vector>

#include "extensions/diff/answer.hpp"
#include "program/live_blocks.hpp"
#include "program/places.hpp"
#include "trace/trace.hpp"

namespace memreplay {

enum class Side { a, b };

/// One device of a recording.
struct RecordedTrace {
  const Recording& recording;
  const Trace& trace;
};

/// Numbers for the places of two recordings: the same where they are the same place of the program.
/// All places that request anything are matched, so that what is live at one moment does not
/// matter. Where a side does not say who asked, classes of sizes stand for places.
class CommonPlaces {
 public:
  CommonPlaces(const RecordedTrace& a, const RecordedTrace& b, PlaceBy by = PlaceBy::place);

  bool by_stack() const { return by_stack_; }
  std::size_t of(Side side, const Asker& asker, Bytes size) const;
  const PlacePair& pair(std::size_t place) const { return pairs_[place]; }
  std::size_t size() const { return pairs_.size(); }

 private:
  bool by_stack_;
  std::array<Places, 2> places_;
  std::vector<PlacePair> pairs_;
  std::array<std::vector<std::size_t>, 2> of_place_;  ///< into `pairs_`
};

/// Step k of one is laid beside step k of the other; everything where one has no steps. O(events).
RequestsDiff diff_requests(const CommonPlaces& places, const RecordedTrace& a, const Steps& a_steps,
                           const RecordedTrace& b, const Steps& b_steps);

}  // namespace memreplay
