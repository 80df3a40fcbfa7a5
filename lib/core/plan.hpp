#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/units.hpp"

namespace memreplay {

/// What a marker of the program says to a plan.
enum class PlanMark : std::uint8_t { iteration, phase, region_begins, region_ends, other };

/// Places for the requests of a trace, made with its future known. Offsets count from the start of
/// one region of `height` bytes. Immutable once made.
struct Plan {
  struct Entry {
    Bytes size = 0;  ///< as requested; a request of another size is not the one that was planned
    Bytes offset = 0;
    bool placed = false;  ///< false: this request has no place in the plan
  };
  Bytes height = 0;
  Bytes lower_bound = 0;         ///< below which no height can be
  Bytes alignment = 1;           ///< every size and offset is a multiple of it
  Bytes base_alignment = 1;      ///< the region's, where requests ask for more than `alignment`
  std::vector<Entry> entries;    ///< one per request above `above`, in their order
  Bytes above = 0;               ///< requests up to this size are not in the plan at all
  Bytes small_peak = 0;          ///< the peak of requests up to `above`, each as long as it
  std::size_t repeats_from = 0;  ///< after the last entry comes this one again; its number: none
  std::vector<std::size_t> iterations;  ///< the first entry after each marker; the last repeats
  std::vector<PlanMark> marks;          ///< by marker of the program; later ones begin iterations
  struct Range {
    Bytes from = 0;  ///< offsets
    Bytes to = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };
  /// By dynamic region: what is free all through it. Its requests are not in the plan.
  std::vector<std::vector<Range>> regions;
  std::vector<std::size_t> regions_from;  ///< the first region after each iteration's marker
  bool grouped = false;                   ///< as STAlloc's group fit places
  bool clairvoyant = true;                ///< made from the very events that it serves
  /// A sentence that says where the planner did less than it was asked for; else empty.
  std::string shortened;
};

/// The plan that a strategy wants made.
struct PlanWish {
  enum class Scope : std::uint8_t {
    whole_trace,
    first_iterations,  ///< the first iterations of a trace with markers, and what comes before
                       ///< them; else all of it
  };
  Scope scope = Scope::whole_trace;
  std::string algorithm;  ///< the planner's: "size/best", "best/first", "layers", …
  Bytes alignment = 512;
  Bytes above = 0;               ///< requests up to this size stay out
  std::uint32_t iterations = 2;  ///< how many the first iterations are
  std::string dynamic;           ///< layers whose marks hold this are not planned; empty: none

  friend bool operator==(const PlanWish&, const PlanWish&) = default;
};

}  // namespace memreplay
