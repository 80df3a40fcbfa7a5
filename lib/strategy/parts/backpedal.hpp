#pragma once

#include "core/units.hpp"

namespace memreplay {

/// What the allocators descended from TensorFlow's BFC ask the device for after a refusal: nine
/// tenths, in single precision as they count them, in whole granules and always less.
inline Bytes backpedalled(Bytes size, Bytes granule) {
  const Bytes next = round_up(static_cast<Bytes>(static_cast<float>(size) * 0.9f), granule);
  return next < size ? next : size - granule;
}

}  // namespace memreplay
