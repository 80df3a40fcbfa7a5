#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/address_policy.hpp"
#include "core/units.hpp"

namespace memreplay::gpu {

/// What a copy from the device gives, since no kernel has computed anything.
enum class Fill { zeros, nan, random };

/// Which of the program's requests are refused, whatever is free.
struct Refusals {
  std::uint64_t at = 0;  ///< the N-th one, from 1; 0: none
  Bytes size = 0;        ///< all of at least this size; 0: none
  double rate = 0;       ///< this part of them, by chance
  std::uint64_t random_seed = 0;

  bool any() const { return at != 0 || size != 0 || rate > 0; }
};

/// The machine that the program believes to run on.
struct Settings {
  std::string name = "NVIDIA GPU";
  Bytes total = 80ULL << 30;  ///< one device's, as cudaMemGetInfo reports it
  Bytes context = 0;          ///< taken from it by each process that uses the device
  bool libraries = false;     ///< they take memory beside the context, see CardLibrary
  int major = 9;              ///< compute capability
  int minor = 0;
  int multiprocessors = 132;
  int count = 0;  ///< number of cards; 0: see card_count
  Fill fill = Fill::zeros;
  std::uint64_t seed = 0;     ///< seeds Fill::random
  std::uint64_t lag = 0;      ///< an event is complete after so many later pieces of work
  bool least_engine = false;  ///< that of least workspace stays where cudnn.benchmark times some
  AddressPolicy order = AddressPolicy::cuda_linux;
  std::string cudnn;  ///< socket of who asks the real one, see record/cudnn_service.hpp
};

/// From MEMREPLAY_VIRTUAL_GPU, "key=value;key=value" as `memreplay record` writes it; read when
/// torch is imported.
const Settings& settings();

// Read when they are first asked for: a program may set variables between its import of torch and
// its first use of CUDA.

const Refusals& refusals();

/// Where the settings leave it open, a card for each process of the program on this machine, as
/// launchers tell them, and every card that CUDA_VISIBLE_DEVICES names.
int card_count();

/// The card of each device that CUDA_VISIBLE_DEVICES shows, as NVIDIA's driver reads it: numbers or
/// the beginnings of UUIDs, up to the first one that is no card's.
const std::vector<int>& visible_cards();

inline bool is_device(int device) {
  return device >= 0 && static_cast<std::size_t>(device) < visible_cards().size();
}

inline int card_of(int device) { return visible_cards()[static_cast<std::size_t>(device)]; }

/// "GPU-00000001-0000-0000-0000-000000000000" of the first one.
std::string uuid_of_card(int card);

}  // namespace memreplay::gpu
