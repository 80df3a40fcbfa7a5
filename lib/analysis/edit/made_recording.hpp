#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/edit/rewrite.hpp"
#include "metrics/made_facts.hpp"
#include "verify/subject.hpp"

namespace memreplay {

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
