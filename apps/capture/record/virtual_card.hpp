#pragma once

#include <string>

#include "core/card.hpp"

namespace memreplay {

/// The card that a program is to believe in.
struct VirtualCard {
  Card card;
  Bytes total = 0;         ///< as the driver reports it
  Bytes context = 0;       ///< taken from it by each process that uses it
  bool libraries = false;  ///< they take memory of it too, where nothing was said of the context
  std::size_t count = 0;   ///< 0: as many as the program has processes on this machine
  std::uint64_t lag = 0;   ///< an event is complete after so many later pieces of work
  /// Where cudnn.benchmark times engines, the one of least workspace stays, not the first.
  bool least_engine = false;
};

/// "h100-80g",
/// "NAME:memory=24GiB,context=0,sm=8.6,multiprocessors=72,os=windows,count=4,lag=0,benchmark=first".
/// A memory that is given is all the program's own. Throws UsageError.
VirtualCard virtual_card(const std::string& text);

/// What a copy from the device gives, and which requests are refused.
struct VirtualBehaviour {
  std::string fill = "zeros";  ///< zeros, nan or random
  std::uint64_t seed = 0;
  std::uint64_t oom_at = 0;              ///< from 1; 0: none
  Bytes oom_size = 0;                    ///< 0: none
  std::string oom_random;                ///< "SEED:RATE"; empty: none
  std::string addresses = "cuda-linux";  ///< or upward

  friend bool operator==(const VirtualBehaviour&, const VirtualBehaviour&) = default;
};

/// What the stand-ins read in MEMREPLAY_VIRTUAL_GPU.
std::string settings_of(const VirtualCard& card, const VirtualBehaviour& behaviour);

}  // namespace memreplay
