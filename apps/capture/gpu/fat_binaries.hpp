#pragma once

namespace memreplay::gpu {

struct BinaryCode {
  int architecture = 0;  ///< 89: 8.9; 0: the binary is of an unknown form
  bool runs = true;      ///< on the card
};

/// The newest architecture of which a fat binary has code that a card runs: machine code of the
/// card's major version, or PTX, up to the card's own; the oldest where none runs. `wrapper` is
/// what nvcc hands to __cudaRegisterFatBinary.
BinaryCode code_for(const void* wrapper, int card);

}  // namespace memreplay::gpu
