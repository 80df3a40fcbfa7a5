#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "questions/explain/answer.hpp"
#include "questions/explain/moment.hpp"
#include "strategy/torch/settings.hpp"

namespace memreplay {

struct Chosen;
struct Setup;
struct StrategySpec;
class Subject;

/// Why one device of a recording needed what it needed, and which setting helps. Throws UsageError
/// where the question does not fit the trace. Costs up to three replays and a short search.
/// `remark` is one more of its remarks; empty: none.
ExplainedDevice explained(const Chosen& chosen, const Subject& subject,
                          const ExplainQuestion& question, const Control& control,
                          const ExplainProgress& progress = {}, const std::string& remark = {});

/// Why the first request that is not served was refused, without a search; unset: all are served.
/// Costs up to three replays.
std::optional<Refusal> first_refusal(const Subject& subject,
                                     const std::optional<StrategySpec>& strategy,
                                     const Setup& setup, const Control& control);

struct ExplainOptions {
  At at;                        ///< the moment to look at
  std::optional<Bytes> total;   ///< the device's size, as it reports it
  std::vector<Phase> phases;    ///< beside those that the recording annotates
  PlaceBy by = PlaceBy::place;  ///< what counts as a place
  bool tree = false;            ///< who called the places
  bool stacks = false;          ///< memory by whole stacks
  bool by_phase = false;        ///< the phases with who holds most; steps where there are none
  /// The device size for which expandable segments reserve addresses; unset: at least what was
  /// reserved or free.
  std::optional<Bytes> reserved_for;
  std::optional<Bytes> address_space;  ///< unset: that of a process
  bool unknown_size = false;           ///< device size unknown, and so why a recorded refusal came
  /// How the allocator cuts memory, where it is PyTorch's.
  std::optional<torch::Settings> settings;
};

/// The memory at the moment that is asked for, and why a request failed there. Throws UsageError
/// where there is no such moment. O(events).
Explanation explain(const Subject& subject, const MomentSource& source,
                    const ExplainOptions& options);

struct Recording;

/// Fragmentation, a shortage or others, by the figures alone that a message states.
ExplainedMessage explained(const OomMessage& message);

/// Why memory ran out where a text is all there is. Throws UsageError where
/// the question is about events.
ExplainedDevice explained_text_of(const Recording& recording, const ExplainQuestion& question,
                                  const ExplainProgress& progress);

}  // namespace memreplay
