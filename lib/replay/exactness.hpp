#pragma once

#include <optional>
#include <string>

#include "replay/replay.hpp"
#include "strategy/registry.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// Whether the strategy takes over the state in which a recording starts. PyTorch's allocator does
/// where its segments stay of the same kind; live blocks are allocated first otherwise.
bool adopts_start(const Subject& subject, const StrategySpec& spec);

/// Whether the strategy is the recorded allocator in every respect, as far as the recording shows:
/// on a device that gives what the recorded one gave it does what that one did.
bool follows_recording(const Subject& subject, const StrategySpec& spec);

/// Whether the strategy chooses between free blocks of equal size by where the device put them.
bool goes_by_address(const Subject& subject, const StrategySpec& spec);

/// Nothing but small blocks, in PyTorch's pool for them, was there before the recording: how the
/// memory of large requests comes to lie is determined under any settings, for the two never meet.
bool starts_small(const Trace& trace);

/// Whether what was there before the recording, and how it came to lie where it lies, may have led
/// to another result than this. `room` as below.
bool start_matters(const Subject& subject, const StrategySpec& spec, std::optional<Bytes> room,
                   const ReplayResult& result);

/// Why the recording does not determine what this replay gave; empty where it does. `start_matters`
/// is what that function says; `room` is what the device had for it, unset for an endless one.
std::string why_inexact(const Subject& subject, const StrategySpec& spec, bool start_matters,
                        std::optional<Bytes> room, const ReplayResult& result);

}  // namespace memreplay
