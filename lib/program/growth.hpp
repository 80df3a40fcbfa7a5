#pragma once

#include <optional>
#include <vector>

#include "program/facts.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// What is live after each step of the program, and which places hold more and more of it.
///
/// A place grows where what it holds after a step, and never gives back later on, rises at least
/// three times, in each third of the steps from its first rise to the last step, and to the end;
/// where it holds more in the end than ever before that rise; and where these are half of the
/// steps, or eight. So what one of the first steps makes and keeps is no growth, nor a cache that
/// is full after some steps, nor what was as large before and shrank. Blocks count that outlive the
/// step after their own. Results that a step leaves to the next one count where the steps' other
/// requests do not grow alike. The slope is the median over all pairs of these steps (Theil and
/// Sen).
///
/// Where no place grows but all together do, it takes eight such steps to say so. `room`: what the
/// device leaves the allocator, where it is known. O(events + places * steps).
StepGrowth step_growth(const Recording& recording, const Trace& trace, PlaceBy by,
                       const std::optional<Bytes>& room);

/// What grows at call sites; unset: nothing does, or no steps are known. O(events) where nothing
/// does.
std::optional<Growth> growth_of(const Recording& recording, const Trace& trace);

/// The step with which memory begins to grow, by the rule above; `live`: what is held after steps
/// 0, 1, ….
std::optional<std::size_t> grows_since(const std::vector<Bytes>& live);

/// Bytes per step from step `from` on.
std::int64_t slope_from(const std::vector<Bytes>& live, std::size_t from);

}  // namespace memreplay
