#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "extensions/stress/work.hpp"
#include "extensions/workloads/workload.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// Which step comes at each place, counted from 0.
using Order = std::vector<std::uint32_t>;

/// The order in which the steps were recorded.
Order recorded_order(const Work& work);

/// Half of the orders have every step once, shuffled (once before any comes again, or as many as
/// there are places for); in the others every place is drawn anew, so that steps repeat and others
/// are missing.
Order draw_order(std::size_t steps, std::size_t places, Draws& draws);

/// Writes orders of a recording's work as traces, one after the other into the same memory. A block
/// that outlives its step is freed as many steps later as it was recorded, at the same share of
/// that step's events; what comes after the last step counts as one, and where the order ends
/// before the block lives on. With several steps in flight each of them goes on in a sequence of
/// its own, and that counts the steps.
class OrderWriter {
 public:
  /// So many steps at once, at least 1. `work` outlives this.
  OrderWriter(const Work& work, std::size_t in_flight);

  /// Where several are in flight, `draws` says which of them goes on with its next event; not used
  /// for one. Valid until the next call. O(events of the order).
  const Trace& write(const Order& order, Draws& draws);

 private:
  /// What is played between two events of a step.
  struct Between {
    std::uint32_t at = 0;
    std::uint32_t row = 0;
    Slot slot = kNoSlot;
    bool last = false;  ///< a crossing block's last event: its slot is free then
  };
  struct Due {
    std::uint32_t step = 0;  ///< its number in the sequence
    PlaceInStep place;
    Between between;
  };
  /// Steps one after the other.
  struct Sequence {
    const WorkStep* step = nullptr;  ///< under way
    Slot first_slot = 0;             ///< where the slots of its own blocks begin
    std::uint32_t number = 0;        ///< steps so far
    std::size_t next = 0;            ///< event
    std::size_t next_birth = 0;
    std::vector<Between> between;  ///< ascending
    std::size_t next_between = 0;
    std::vector<Due> due;  ///< later
  };

  void clear();
  void begin(Sequence& sequence, const WorkStep& step, std::size_t place);
  bool is_done(const Sequence& sequence) const;
  /// One event, or up to so many where nothing comes between.
  void play(Sequence& sequence, std::size_t most);
  void play_through(Sequence& sequence);
  void play_between(Sequence& sequence);
  void play_events(Sequence& sequence, std::size_t count);
  void give_birth(Sequence& sequence, std::size_t row);
  void play_interleaved(const Order& order, Draws& draws);
  void play_end();

  const Work& work_;
  std::vector<Sequence> sequences_;
  Slot first_crossing_ = 0;
  Slot next_crossing_ = 0;
  std::vector<Slot> free_slots_;  ///< slots of blocks that crossed
  std::vector<std::size_t> in_flight_;
  Trace trace_;
};

/// Which of so many values drawn alike bounds a share of all that could be drawn.
struct ToleranceBound {
  std::size_t above = 0;  ///< so many of the values lie above it at most: 0 is the largest
  double confidence = 0;  ///< that it does: the chance, over the draws, that the bound is none
};

/// The one-sided tolerance limit of Wilks ("Determination of sample sizes for setting tolerance
/// limits", 1941), for any distribution: the lowest of `values` draws that bounds `share` of what
/// could be drawn with at least this confidence; where even the largest has less, the largest with
/// what it has. 0 < share < 1. O(above).
ToleranceBound tolerance_bound(std::size_t values, double share, double confidence);

}  // namespace memreplay
