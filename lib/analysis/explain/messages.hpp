#pragma once

#include "analysis/explain/answer.hpp"

namespace memreplay {

struct Recording;

/// Fragmentation, a shortage or others, by the figures alone that a message states.
ExplainedMessage explained(const OomMessage& message);

/// Why memory ran out where a text is all there is. Throws UsageError where
/// the question is about events.
ExplainedDevice explained_text_of(const Recording& recording, const ExplainQuestion& question,
                                  const ExplainProgress& progress);

}  // namespace memreplay
