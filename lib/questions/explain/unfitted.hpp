#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "program/places.hpp"
#include "questions/explain/answer.hpp"
#include "questions/explain/moment.hpp"

namespace memreplay {

/// The requests up to `event` (unset: none) that made the allocator reserve more although as much
/// as they ask for was free inside, by call site, most reserved first. What was returned to the
/// device before the event counts no longer. O(events).
std::vector<UnfittedRequests> unfitted_requests(const Trace& trace, const Places& places,
                                                const Curves& curves,
                                                std::optional<std::uint64_t> event);

}  // namespace memreplay
