#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "program/rewrite.hpp"

namespace memreplay {

/// On which clock the events of several recordings fall together.
enum class TogetherOrder {
  recorded,  ///< their own, which is the same for all
  start,     ///< each from its first event on
  share,     ///< each has come as far, in events
};

/// One of the recordings, whose subject outlives what is made of it, or is kept by it.
struct SharingRecording {
  std::shared_ptr<const Subject> subject;
  std::shared_ptr<const void> kept = {};
};

/// Recordings of several processes as one, on one clock and one device; how each was made stays in
/// its origin. Without an order: the recorded clock where all have one and their times overlap,
/// else from the start, or by share where one has no times. Driver events are left out. Throws
/// UsageError where there are fewer than two, where two of one file are of different devices, or
/// where they lack the clock that is asked for. O(events log recordings).
MadeRecordings on_one_device(std::vector<SharingRecording> recordings,
                             std::optional<TogetherOrder> order);

}  // namespace memreplay
