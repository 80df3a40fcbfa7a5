#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trace/trace.hpp"
#include "verify/reading.hpp"

namespace memreplay {

enum class Verdict { exact, diverged, resynchronised, unsupported };

struct Divergence {
  std::uint64_t event = 0;
  std::string expected;
  std::string got;
  std::string why;
};

/// Does the PyTorch model give every recorded address and segment of this trace?
struct VerifyResult {
  int gpu = 0;
  std::uint64_t allocs = 0;
  std::uint64_t allocs_matched = 0;
  std::uint64_t segment_events = 0;
  std::uint64_t segment_events_matched = 0;
  std::uint64_t forced = 0;  ///< requests at which the model was set to the recorded state
  Verdict verdict = Verdict::unsupported;
  std::string reason;  ///< empty where there is nothing to explain
  std::optional<Divergence> first_divergence;
  std::string torch_version;  ///< the rules that were used
  Reading reading;            ///< as far as the recording was reproduced
};

/// `torch_version` empty: as far as the recording shows it, the best fitting rules otherwise. What
/// the recording does not state (memory limit, size of the device, options and, before 2.12, owners
/// of private pools) is found by trying; a divergence that nothing explains is reported, and the
/// rest compared from the recorded state on.
VerifyResult verify(const Recording& recording, const Trace& trace,
                    const std::string& torch_version = {});

}  // namespace memreplay
