#pragma once

#include <optional>
#include <span>

#include "core/card.hpp"
#include "metrics/run_metrics.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// What a recording shows of the card on which it was made.
struct CardTraits {
  LoadedLibraries loaded;
  /// PyTorch's for cuBLAS, whose size depends on the kind of card; 0: it shows none.
  Bytes workspace = 0;

  void add(const CardTraits& others);
};

/// One process's libraries, by stacks, by scopes that PyTorch annotates, and by PyTorch's own
/// workspaces. It ran some kernel. O(events).
CardTraits card_traits(const Recording& recording, const Trace& trace);

/// What is set aside on a card for such processes, one of each.
SetAside set_aside_on(const Card& card, std::span<const CardTraits> processes);

/// The first one, with the bounds of both: of two cards on which the same is asked for.
SetAside bounds_of_both(SetAside one, const SetAside& other);

/// The card that leaves a program just so much, where one does.
std::optional<SetAside> set_aside_beside(Bytes usable, const CardTraits& process);

/// What is left of a card: at least and at most. A program whose kernels differ there may need more
/// or less, which counts as if the card had less or more.
BytesInterval usable_on(const Card& card, const SetAside& aside);

}  // namespace memreplay
