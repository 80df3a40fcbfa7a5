#pragma once

#include <cstdint>
#include <functional>

#include "trace/trace.hpp"

namespace memreplay {

/// Calls `use` with all events of a trace in their order: at once where they are in memory, else
/// as many at a time as its file has together. `first` is the number of the first of them; `use` is
/// false to end it. Throws InputError.
void for_each_block(
    const Trace& trace, ColdColumns wanted,
    const std::function<bool(std::uint64_t first, const EventColumns& events)>& use);

}  // namespace memreplay
