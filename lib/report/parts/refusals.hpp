#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/verdict/answer.hpp"

/// How reports say why memory ran out.
namespace memreplay {

/// What was looked at beyond the refused request.
struct WhatFollowed {
  std::optional<RequestInRoom> too_much;  ///< a later request that no setting serves
  std::uint64_t tried = 0;                ///< settings
};

/// "Fragmentation: the 760 MiB request would have fitted, with 46.8 MiB to spare." The request has
/// an event, and addresses were not what it lacked.
std::string refusal_sentence(const Refusal& refusal, const OomVerdict& verdict,
                             const WhatFollowed& after);

/// The sentence for a recording whose blocks from before found no room. `strategy` may be empty.
std::string start_refused_sentence(const OomVerdict& verdict, const std::string& strategy);

/// "Shortage: the state itself needs 11.0 GiB: …" Empty where it fits.
std::string state_sentence(const std::optional<StateBeyondDevice>& state);

/// "at event 361 498 MiB are live and 62.5 MiB more are asked for, and the device has 500 MiB"
std::string too_much_phrase(const RequestInRoom& request);

}  // namespace memreplay
