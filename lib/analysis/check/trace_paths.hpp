#pragma once

#include <string>

#include "analysis/check/answer.hpp"

namespace memreplay {

class Inputs;

/// The path under which a baseline keeps a trace: relative to the folder of the baseline's file, so
/// that it holds from whatever folder it is asked for.
std::string kept_path(const std::string& trace, const std::string& baseline);

/// Whether a kept path is that of the trace. Early baselines have paths as they were given.
bool is_kept_path(const std::string& kept, const std::string& trace, const std::string& baseline);

/// Gives the entries of these recordings the paths under which they are kept now.
void renew_paths(Baseline& baseline, const std::string& path, const Inputs& inputs);

}  // namespace memreplay
