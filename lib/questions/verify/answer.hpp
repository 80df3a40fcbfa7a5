#pragma once

#include <optional>
#include <string>
#include <vector>

#include "questions/info/answer.hpp"
#include "run/inputs.hpp"
#include "verify/scripted_device.hpp"
#include "verify/verdict.hpp"

namespace memreplay {

/// Does the model give every recorded address and segment?
struct VerifyQuestion {
  InputOptions input;
  std::string release;                 ///< PyTorch's; empty: the rules that fit best
  std::optional<StatedDevice> device;  ///< unset: found by trying
};

struct Control;
struct VerifyQuestion;

/// One file, a run for each device.
struct VerifiedFile {
  TraceSummary trace;
  std::vector<VerifyRun> runs;
};

/// Whether the model gives every recorded address and segment.
struct VerifyAnswer {
  std::vector<VerifiedFile> files;
  bool interrupted = false;  ///< there would have been more

  bool diverged() const;  ///< anywhere
  bool applies() const;   ///< to any device of any file
};

/// Reads and verifies every recording in turn. Throws InputError.
VerifyAnswer answer(const VerifyQuestion& question, const Control& control);

}  // namespace memreplay
