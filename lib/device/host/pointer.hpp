#pragma once

#include "core/units.hpp"

namespace memreplay {

/// Addresses of this process are numbers elsewhere; here they become what they stand for.
template <typename Pointee = void>
Pointee* pointer_to(Address address) {
  return reinterpret_cast<Pointee*>(address);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace memreplay
