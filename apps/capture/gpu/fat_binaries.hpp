#pragma once

namespace memreplay::gpu {

/// The newest architecture (89: 8.9) of which a fat binary has code that a card runs: machine code
/// of the card's major version, or PTX, up to the card's own. 0: it has none, or is of an unknown
/// form. `wrapper` is what nvcc hands to __cudaRegisterFatBinary.
int newest_runnable(const void* wrapper, int card);

}  // namespace memreplay::gpu
