#pragma once

#include <vector>

#include "report/results.hpp"

namespace memreplay {

/// Sets `place`: fewest OOMs, then no block moved out, then least reserved, fewest retries, fewest
/// device calls; the order given decides the rest.
void set_places(std::vector<RunReport>& runs);

/// Puts the runs in the order of their places.
void sort_by_place(std::vector<RunReport>& runs);

/// The trace that fares worst: by the OOMs and the reserved peak of its first run.
std::size_t worst_of(const std::vector<ReplayReport>& reports);

}  // namespace memreplay
