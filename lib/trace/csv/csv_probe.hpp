#pragma once

#include <cstdint>

#include "trace/reader.hpp"

namespace memreplay {

/// By its first line alone: it names what happens, and to which block.
bool is_csv(const Input& input);

/// No row tells anything of those before it, and all are of one device, up to one that cannot be
/// read. Throws InputError for a header that cannot. O(rows).
bool can_stream_csv(const Input& input, const ReadOptions& options);

/// Whether a block of this id is allocated in the rows before `end`, which can be read. O(rows).
bool csv_has_allocated(const Input& input, const ReadOptions& options, int gpu, std::uint64_t id,
                       const char* end);

}  // namespace memreplay
