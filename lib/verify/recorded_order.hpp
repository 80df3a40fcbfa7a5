#pragma once

#include <optional>

#include "core/address_policy.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// The order in which the recorded device handed out addresses; unset where too few regions show
/// it. O(events log events).
std::optional<AddressPolicy> recorded_order(const Trace& trace);

}  // namespace memreplay
