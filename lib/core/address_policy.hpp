#pragma once

#include <cstddef>
#include <string_view>

namespace memreplay {

/// In which order a device hands out addresses.
enum class AddressPolicy {
  upward,      ///< addresses are never given twice
  downward,    ///< the highest hole that fits, as Linux maps memory of a host
  first_fit,   ///< the lowest hole that fits; neighbouring holes join at once
  cuda_linux,  ///< as NVIDIA's driver under Linux, see DriverAddresses
  automatic,   ///< as recorded; where that does not show, what is usual for the strategy
};

/// "first-fit", as options and reports have it.
constexpr std::string_view name_of(AddressPolicy policy) {
  constexpr std::string_view kNames[] = {"upward", "downward", "first-fit", "cuda-linux", "auto"};
  return kNames[static_cast<std::size_t>(policy)];
}

}  // namespace memreplay
