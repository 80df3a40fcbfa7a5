#pragma once

#include <optional>
#include <string>

#include "trace/trace.hpp"
#include "verify/reading.hpp"
#include "verify/scripted_device.hpp"
#include "verify/verdict.hpp"

namespace memreplay {

/// Does the PyTorch model give every recorded address and segment of this trace?
struct VerifyResult : VerifyRun {
  Reading reading;  ///< as far as the recording was reproduced
};

/// `release` empty: as far as the recording shows it, the best fitting rules otherwise. What
/// the recording does not state (memory limit, size of the device, options and, before 2.12, who
/// owns private pools) is found by trying; a divergence that nothing explains is reported, and the
/// rest compared from the recorded state on. A stated `device` takes the place of the size that is
/// found, and of a limit that the settings have as a share of it; that it grants more than it has,
/// or refuses what it has, is a divergence.
VerifyResult verify(const Recording& recording, const Trace& trace, const std::string& release = {},
                    const std::optional<StatedDevice>& device = {});

}  // namespace memreplay
