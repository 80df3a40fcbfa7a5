#pragma once

#include <string_view>

#include "trace/mrt/block_code.hpp"
#include "trace/mrt/mrt_format.hpp"
#include "trace/reader.hpp"

namespace memreplay {

/// Reads all but the blocks, and checks that they fit together: every number refers to something
/// that is there, and the blocks tile the file. Throws InputError.
MrtAbout read_mrt_about(const Input& input);

/// How far the numbers of the trace's blocks may go.
NumberLimits mrt_limits(const Recording& recording, const Trace& trace);

/// Decodes a block, given with its head, which must be `expected`. Throws MrtFault.
void decode_mrt_block(std::string_view block, const MrtBlockHead& expected, BlockDecoder& decoder,
                      EventColumns& events);

/// "block 12": by number in MrtAbout::blocks.
std::string mrt_place(std::size_t block);

}  // namespace memreplay
