#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "record/answer.hpp"

namespace memreplay {

class Cache;

/// A program, and how it is to be recorded.
struct RecordQuestion {
  std::vector<std::string> program;
  std::string output;
  RecordedCalls calls;              ///< any: these alone, of any program
  std::optional<VirtualCard> card;  ///< unset: on the device that there is
  VirtualBehaviour behaviour;
  std::string cudnn;              ///< folder of the real one; empty: beside torch
  std::string stacks = "python";  ///< python, all or none
  std::uint64_t max_entries = 0;  ///< length of the history; 0: all
  bool real_times = false;        ///< a virtual GPU's events are only numbered else
  std::uint64_t at_step = 0;      ///< an optimiser's step; 0: the end
  /// Told the folder where the recording lies until it is written, then "". May be empty.
  std::function<void(const std::string& folder)> lies_in;
};

/// Runs the program and says what came of it. Throws UsageError where it cannot be started. What it
/// recorded is never lost: what cannot be written stays where `left` says.
RecordAnswer answer(const RecordQuestion& question, const Cache& cache, const Control& control);

/// Writes the calls that such an answer, or a `memreplay` that was killed, left in a folder. They
/// stay there too. Throws InputError where there are none.
RecordAnswer recover(const std::string& folder, const std::string& output);

}  // namespace memreplay
