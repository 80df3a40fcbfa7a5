#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "program/verdict.hpp"
#include "run/answer.hpp"

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

/// How reports say why memory ran out.

/// "Fragmentation: the 760 MiB request would have fitted, with 46.8 MiB to spare." The request has
/// an event, and addresses were not what it lacked.
std::string refusal_sentence(const JudgedRefusal& judged);

/// The sentence for a recording whose blocks from before found no room. `strategy` may be empty.
std::string start_refused_sentence(const OomVerdict& verdict, const std::string& strategy);

/// "Shortage: the state itself needs 11.0 GiB: …" Empty where it fits.
std::string state_sentence(const std::optional<StateBeyondDevice>& state);

/// "at event 361, 498 MiB are live and 62.5 MiB more are asked for, and the device has 500 MiB"
std::string too_much_phrase(const RequestInRoom& request);

}  // namespace memreplay
