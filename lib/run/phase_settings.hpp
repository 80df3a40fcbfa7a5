#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replay/trial.hpp"
#include "run/setup.hpp"

namespace memreplay {

/// "CONF@phase:NAME". Throws UsageError for anything else.
PhaseSetting phase_setting(std::string_view text);

/// What the program passes on its way, and what comes of it beside what was asked for.
struct PhasedSettings {
  std::vector<SettingsCall> calls;   ///< by event
  std::vector<std::string> remarks;  ///< sentences
};

/// Throws UsageError for a phase that the recording does not annotate, naming those that it does,
/// for a strategy that is not PyTorch's, and for a recording that starts late.
PhasedSettings phased_settings(const Contender& contender, const Setup& setup);

}  // namespace memreplay
