#pragma once

#include <optional>
#include <string>

#include "core/address_policy.hpp"
#include "verify/verify.hpp"

namespace memreplay {

/// The device of a recording, without what others held of it.
struct RecordedRoom {
  Bytes bytes = 0;
  /// From an OOM. Else the device, or a limit, was full at some time, and this is the smallest one
  /// on which all that was recorded happens.
  bool stated = true;
};

/// What a recording that nobody recorded keeps of the one that it was made from.
struct Origin {
  /// The events of its reading are those of the made trace.
  std::optional<VerifyResult> verified;
  std::optional<RecordedRoom> room;
  /// The order in which its device handed out addresses; unset where it does not show.
  std::optional<AddressPolicy> order;
  /// What of the replays of the made trace is open: the end of a sentence; empty where all is
  /// settled.
  std::string why_inexact;
};

}  // namespace memreplay
