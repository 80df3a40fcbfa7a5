#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analysis/run/answer.hpp"

/// What is said of the runs of one table, each sentence once with all of whom it holds. What was
/// interrupted is in none.
namespace memreplay {

std::vector<std::string> oom_warnings(const std::vector<Run>& runs);
std::vector<std::string> served_sentences(const std::vector<Run>& runs);
std::vector<std::string> inexact_sentences(const std::vector<Run>& runs);

/// "torch, bfc: PHRASE." for each phrase.
std::vector<std::string> phrases_once(
    const std::vector<Run>& runs,
    const std::function<std::vector<std::string>(const Run&)>& phrases_of);

}  // namespace memreplay
