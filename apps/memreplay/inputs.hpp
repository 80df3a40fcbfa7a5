#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "options/options.hpp"
#include "output/terminal.hpp"
#include "report/results.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// A device of a recording that was named on the command line.
struct Chosen {
  const Recording* recording;
  const Trace* trace;

  /// Verifies it, where it can be verified, and shows that it does.
  Subject subject(Progress& progress) const;
};

/// The recordings named on the command line, in that order.
class Inputs {
 public:
  /// Reads them all. Throws InputError, also where one has nothing to replay.
  explicit Inputs(const InputOptions& input);

  const std::deque<Recording>& recordings() const { return recordings_; }
  const std::vector<Chosen>& chosen() const { return chosen_; }

 private:
  std::deque<Recording> recordings_;
  std::vector<Chosen> chosen_;
};

/// How far the model reproduces the recording; nothing where it was not tried.
std::optional<VerifyRun> model_check(const Subject& subject);

}  // namespace memreplay
