#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "metrics/made_facts.hpp"
#include "program/lives.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// A place right before an event of a trace, or after its last one. At one place the lower order
/// comes first, then what was asked for first.
struct RewritePoint {
  std::uint64_t before = 0;
  std::uint32_t order = 0;

  friend auto operator<=>(const RewritePoint&, const RewritePoint&) = default;
};

/// A trace that was written anew.
struct Rewritten {
  Trace trace;
  /// By event of the old trace, and after its last: the same event, or where it was left out the
  /// next one that is there.
  std::vector<std::uint64_t> now;
  std::vector<bool> kept;  ///< by event of the old trace
};

/// Changes to the blocks of a trace, all of which are made at once. What the recorded allocator did
/// (its addresses, what it asked of the driver, the state in which it ended) is left out.
class Rewrite {
 public:
  /// Both outlive this.
  Rewrite(const Trace& trace, const BlockLives& lives);

  /// Blocks are numbered as in the lives. A block that another stream still used is free there too.
  void free_at(std::uint32_t block, RewritePoint spot);
  void keep_forever(std::uint32_t block);
  /// Not of one that was there before the first event.
  void drop(std::uint32_t block);
  /// One that was there before the first event has room for so much.
  void resize(std::uint32_t block, Bytes size);
  /// A further block, asked for by the same caller. Its number; without a free it stays.
  std::uint32_t add(std::uint32_t like, Bytes size, RewritePoint born);

  /// To be called once. O(events + changes log changes). Throws std::logic_error where a block
  /// would be freed before it is asked for.
  Rewritten write();

 private:
  struct Fate {
    Bytes size = 0;
    bool dropped = false;
    bool freed_as_before = true;
    std::optional<RewritePoint> born;  ///< set for an added block
    std::optional<RewritePoint> freed;
    std::uint32_t like = 0;
  };

  const Trace& trace_;
  const BlockLives& lives_;
  std::vector<Fate> fates_;  ///< by block, added ones after those of the lives
};

/// A recording that nobody recorded, with one trace: edited, or predicted from others.
struct MadeRecording {
  Recording recording;
  std::shared_ptr<const Origin> origin;
  /// A figure of the program may lie so many times as far from that of the likeliest as this one's
  /// does, because its loops are so much longer; below 0: on its other side.
  double reach = 0;

  const Trace& trace() const { return recording.traces.front(); }
};

/// One that is thought the likeliest, and others that may be as well: what they come to spans an
/// interval.
struct MadeRecordings {
  MadeRecording likeliest;
  std::vector<MadeRecording> others;
  /// What is reserved may be less or more by so large a share, of each.
  double reserved_open = 0;
  double requested_open = 0;  ///< likewise what is requested
  std::vector<EditFacts> edits;
  std::optional<PredictionFacts> predicted;  ///< unset: from one recording alone

  bool is_certain() const { return others.empty() && reserved_open == 0 && requested_open == 0; }
};

/// What the subject's recording comes to with its trace written anew. `why_inexact` as in Origin.
MadeRecording made_recording(const Subject& subject, Rewritten written, std::string why_inexact);

/// The reading with its events numbered as in the trace that was written anew.
Reading renumbered(const Reading& reading, const Rewritten& written);

}  // namespace memreplay
