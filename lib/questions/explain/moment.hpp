#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/peaks.hpp"
#include "core/program.hpp"
#include "program/live_blocks.hpp"
#include "replay/trial.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// The memory of an allocator right before an event of its trace.
struct Moment {
  MemoryState memory;           ///< live blocks carry their slots; kNoSlot: unknown
  std::vector<LiveBlock> live;  ///< requested and not freed, oldest first
  Bytes device_free = 0;        ///< as the device reports it
  Bytes allowed =
      UINT64_MAX;        ///< what a limit of its own leaves the allocator beyond what it holds
  bool limited = false;  ///< a known limit was too low for the request that was refused
  std::uint64_t unplaced = 0;  ///< live blocks that lie in no known segment
};

/// What was requested and reserved after each event, and what was refused.
struct Curves {
  std::vector<Bytes> requested;
  std::vector<Bytes> reserved;
  std::vector<std::uint64_t> ooms;  ///< events of requests that were refused, ascending
  std::uint64_t retries = 0;        ///< requests for which memory was released first
  /// Not all that was there before the first event found room.
  bool start_refused = false;
  Peaks peaks;  ///< with the memory before the first event
};

/// Where the allocator of a run comes from: the recording itself, without any model, or a strategy.
class MomentSource {
 public:
  virtual ~MomentSource() = default;
  /// O(events).
  virtual Curves curves() const = 0;
  /// The trace's size: at its end.
  virtual Moment before(std::uint64_t event) const = 0;
  /// The memory before an event with all that was released to serve the request of this event,
  /// which was refused.
  virtual Moment refused_at(std::uint64_t event) const { return before(event); }
  /// What live blocks take right after each of these ascending events.
  /// O(events + live blocks of each).
  virtual std::vector<Bytes> allocated_after(const std::vector<std::uint64_t>& events) const = 0;
};

/// As recorded; how large a block is beyond its request as far as verification found it. The
/// recording must have driver events or a start state; `subject` outlives this.
class RecordedMoments final : public MomentSource {
 public:
  explicit RecordedMoments(const Subject& subject) : subject_(subject) {}
  Curves curves() const override;
  Moment before(std::uint64_t event) const override;
  std::vector<Bytes> allocated_after(const std::vector<std::uint64_t>& events) const override;

 private:
  const Subject& subject_;
};

/// As a strategy would have it; a replay for every question.
class ReplayedMoments final : public MomentSource {
 public:
  ReplayedMoments(Contender contender, ReplayOptions replaying)
      : contender_(std::move(contender)), replaying_(std::move(replaying)) {}
  Curves curves() const override;
  Moment before(std::uint64_t event) const override { return replayed_to(event, event); }
  Moment refused_at(std::uint64_t event) const override { return replayed_to(event + 1, event); }
  std::vector<Bytes> allocated_after(const std::vector<std::uint64_t>& events) const override;

 private:
  Moment replayed_to(std::uint64_t to, std::uint64_t event) const;

  Contender contender_;
  ReplayOptions replaying_;
};

/// The recording says where its allocator's segments lay.
bool shows_segments(const Subject& subject);

}  // namespace memreplay
