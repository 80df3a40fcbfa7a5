#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/control.hpp"
#include "extensions/planner/problem.hpp"

namespace memreplay {

/// By what a packing is looked for.
enum class PlanSolver : std::uint8_t {
  automatic,   ///< one after the other, as far as it is needed
  greedy,      ///< ordered placement alone
  improve,     ///< and local search over orders
  exact,       ///< MiniMalloc's search
  contention,  ///< TelaMalloc's
};
/// By their numbers.
inline constexpr std::array<std::string_view, 5> kSolverNames = {"automatic", "greedy", "improve",
                                                                 "exact", "contention"};

struct PlannerOptions {
  std::optional<Bytes> capacity = {};  ///< a packing must not be higher; unset: no limit
  bool minimise = false;               ///< as low as possible below the capacity too
  double seconds = 10;                 ///< then the best so far is the answer
  PlanSolver solver = PlanSolver::automatic;
  unsigned threads = 1;
  std::uint64_t seed = 1;
};

/// What is known of a search for packings, beside what it found.
struct PlannerOutcome {
  Bytes lower_bound = 0;    ///< no packing is lower
  std::string found_by;     ///< "size/best", "exact", …; empty: nothing was
  bool impossible = false;  ///< proved: nothing fits the capacity, or the given places
  std::uint64_t nodes = 0;  ///< nodes of the exact search
  double seconds = 0;
};

struct PlannedMemory : PlannerOutcome {
  std::optional<Packing> packing;  ///< the lowest that was found; unset: none within the capacity
  bool interrupted = false;        ///< by whoever controls it, not by time

  bool optimal() const { return packing && packing->height == lower_bound; }
  /// Takes a packing that is lower than the one there is, and says whether it did.
  bool keep(Packing found, std::string by);
};

/// Places all blocks with their whole future known, as low as possible, or within the capacity. The
/// same threads, nodes and time give the same packing. Ends early where it is told to.
PlannedMemory plan_memory(const PlanningProblem& problem, const PlannerOptions& options,
                          const Control& control);

/// More blocks take seconds.
inline constexpr std::size_t kMostBlocksOfQuickPlan = 200'000;

/// Places blocks within what work, not time, allows: the same blocks give the same packing
/// anywhere. Sweeps, orders where few blocks meet, and an exact search of few nodes at the bound.
/// Some tenths of a second for kMostBlocksOfQuickPlan.
PlannedMemory plan_quickly(std::span<const PlannedBlock> blocks, const Control& control);

/// The work of that, at most, as if so many events of a trace were replayed. O(n log n).
std::uint64_t events_of_quick_plan(std::span<const PlannedBlock> blocks);

}  // namespace memreplay
