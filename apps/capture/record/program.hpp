#pragma once

#include <map>
#include <string>
#include <vector>

namespace memreplay {

/// How a program ended.
struct ProgramEnd {
  int status =
      0;  ///< its exit status; ended by a signal, 128 and the signal's number, as in shells
  int signal = 0;  ///< the signal that ended it; 0: none
};

/// What a program finds beside its arguments.
struct Surroundings {
  std::map<std::string, std::string> environment;  ///< beside what this program has
  bool same_addresses = false;  ///< at each run, so that what is ordered by them is repeated
};

/// Runs a program and waits for its end. It has the
/// terminal; what would end this program (SIGINT, SIGTERM, SIGHUP) ends that one first. Throws
/// UsageError where it cannot be started.
ProgramEnd run_program(const std::vector<std::string>& arguments, const Surroundings& given);

/// As exec wants them, with a null pointer behind; valid as long as the texts.
std::vector<char*> pointers(const std::vector<std::string>& texts);

/// What a short program writes to its standard output; empty where it cannot be started.
std::string output_of(const std::vector<std::string>& arguments);

}  // namespace memreplay
