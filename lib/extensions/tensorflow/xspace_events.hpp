#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/units.hpp"
#include "trace/reader.hpp"

namespace memreplay {

/// A call on an allocator, with what that says of itself after it; texts are those of the file.
struct XSpaceEvent {
  std::int64_t ns = 0;
  std::uint32_t ps = 0;      ///< beside it, below 1000
  std::uint32_t thread = 0;  ///< from 1, in the order of the file
  bool allocates = false;
  std::string_view allocator;
  std::string_view op;          ///< the operator that asks; empty where the file does not say
  std::string_view shape;       ///< the tensor's, "[64,256]"; empty where the file does not say
  std::string_view use;         ///< what the tensor is to the operator: "output", "temp"
  std::uint64_t data_type = 0;  ///< its elements', by TensorFlow's numbers; 0: not said
  Address address = 0;          ///< 0: it was refused
  Bytes requested = 0;          ///< a free has its block's
  Bytes allocated = 0;          ///< after rounding
  Bytes in_use = 0;             ///< all that is allocated
  Bytes available = 0;          ///< the limit less that
  Bytes process_peak = 0;       ///< the most since the process began
};

/// Whether it begins as an XSpace does, with a plane that has a name.
bool is_xspace(std::string_view bytes);

/// Those of all threads, in the order of time; at one time in that of the file. Throws InputError
/// with the byte where it is cut off or damaged.
std::vector<XSpaceEvent> xspace_events(const Input& input);

}  // namespace memreplay
