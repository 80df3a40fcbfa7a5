#pragma once

#include <vector>

#include "analysis/info/answer.hpp"
#include "verify/verdict.hpp"

namespace memreplay {

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
