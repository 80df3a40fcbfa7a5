#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "trace/reader.hpp"
#include "trace/stated_buffer.hpp"

namespace memreplay {

/// What XLA plans for the temporary buffers of a module.
struct XlaPlan {
  std::string module;                ///< its name; empty: not told
  Bytes total = 0;                   ///< the allocation, with what lies in it outside of the heap
  std::vector<StatedBuffer> places;  ///< with names that differ, none of them empty
  std::vector<std::string> lacks;
};

/// The events of the places, at their own times, and the total beside them; a state of that size
/// where there are no places.
Recording recording_of(XlaPlan plan, const Input& input, std::string format);

/// Offsets count from the lowest: what lies below is no part of the heap. Names that come again
/// get numbers.
void put_in_order(std::vector<StatedBuffer>& places);

}  // namespace memreplay
