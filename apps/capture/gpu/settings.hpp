#pragma once

#include <cstdint>
#include <string>

#include "core/address_policy.hpp"
#include "core/units.hpp"

namespace memreplay::gpu {

/// What a copy from the device gives, since no kernel has computed anything.
enum class Fill { zeros, nan, random };

/// Which of the program's requests are refused, whatever is free.
struct Refusals {
  std::uint64_t at = 0;  ///< the N-th one, from 1; 0: none
  Bytes size = 0;        ///< those of at least this size; 0: none
  double rate = 0;       ///< this part of them, by chance
  std::uint64_t random_seed = 0;

  bool any() const { return at != 0 || size != 0 || rate > 0; }
};

/// The machine that the program believes to run on.
struct Settings {
  std::string name = "NVIDIA GPU";
  Bytes total = 80ULL << 30;  ///< of one device, as cudaMemGetInfo reports it
  Bytes context = 0;          ///< of it taken before the program asks for any
  int major = 9;              ///< compute capability
  int minor = 0;
  int multiprocessors = 132;
  int count = 1;
  Fill fill = Fill::zeros;
  std::uint64_t seed = 0;  ///< of Fill::random
  std::uint64_t lag = 0;   ///< an event is complete after so many later pieces of work
  Refusals refusals;
  AddressPolicy order = AddressPolicy::cuda_linux;
};

/// From MEMREPLAY_VIRTUAL_GPU, "key=value;key=value" as `memreplay record` writes it.
const Settings& settings();

}  // namespace memreplay::gpu
