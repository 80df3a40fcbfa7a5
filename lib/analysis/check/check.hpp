#pragma once

#include <optional>

#include "analysis/check/answer.hpp"
#include "core/control.hpp"
#include "verify/subject.hpp"

/// Did it get worse? A recording is replayed and laid beside what the same replay gave before.
namespace memreplay {

class LateStart;

inline constexpr std::size_t kPlacesKept = 20;

/// With the blocks from before where the entry counts them, else on an empty device. `late` is of
/// this subject with them. Throws UsageError where the strategy cannot be made. One replay, or two
/// and an estimate; O(metrics) more per event.
EntryCheck check_entry(const Subject& subject, const LateStart& late, const BaselineEntry& entry,
                       const Control& control = {});

/// What the entry's replay comes to with what was there before the recording. Unset where it
/// started empty, where that is not recorded or cannot be estimated, or where it was stopped. One
/// replay, or two and an estimate.
std::optional<WithStart> with_start(const Subject& subject, const LateStart& late,
                                    const BaselineEntry& entry, const Control& control = {});

/// The entry with the values and places that the check found; tolerances stay.
BaselineEntry updated(const BaselineEntry& entry, const EntryCheck& check);

}  // namespace memreplay
