#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace memreplay {

enum class Verdict { exact, diverged, resynchronised, unsupported };

constexpr std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::exact:
      return "exact";
    case Verdict::diverged:
      return "diverged";
    case Verdict::resynchronised:
      return "resynchronised";
    case Verdict::unsupported:
      break;
  }
  return "unsupported";
}

struct Divergence {
  std::uint64_t event = 0;
  std::string expected;
  std::string got;
  std::string why;
};

/// How far the PyTorch model gives the recorded addresses and segments of one device.
struct VerifyRun {
  int gpu = 0;
  std::uint64_t allocs = 0;
  std::uint64_t allocs_matched = 0;
  std::uint64_t segment_events = 0;
  std::uint64_t segment_events_matched = 0;
  std::uint64_t forced = 0;  ///< requests at which the model was set to the recorded state
  Verdict verdict = Verdict::unsupported;
  std::string reason;  ///< empty where there is nothing to explain
  std::optional<Divergence> first_divergence;
  std::string release;  ///< the PyTorch whose rules were used
};

}  // namespace memreplay
