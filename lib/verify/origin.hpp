#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/address_policy.hpp"
#include "verify/pluggable_pools.hpp"
#include "verify/verify.hpp"

namespace memreplay {

/// The device of a recording, without what others held of it.
struct RecordedRoom {
  Bytes bytes = 0;
  /// From an OOM. Else the device, or a limit, was full at some time, and this is the smallest one
  /// on which all that was recorded happens.
  bool stated = true;
};

class Subject;

/// A process on a device that others use too.
struct Sharer {
  std::string path;                        ///< its recording's
  std::shared_ptr<const Subject> subject;  ///< as if it were alone
  std::shared_ptr<const void> kept;        ///< on which the subject depends; may be null
  StreamIndex first_stream = 0;            ///< its streams and pools are numbered from these on
  PoolIndex first_pool = 0;
};

/// A device that several processes share.
struct SharedDevice {
  std::vector<Sharer> sharers;
  Reading reading;    ///< all of theirs; the end of a process's default pool is its empty_cache
  std::string clock;  ///< on which their events fall together, for people
};

/// What a recording that nobody recorded keeps of the one that it was made from.
struct Origin {
  /// The events of its reading are those of the made trace.
  std::optional<VerifyResult> verified;
  std::optional<RecordedRoom> room;
  /// The order in which its device handed out addresses; unset where it does not show.
  std::optional<AddressPolicy> order;
  std::vector<PluggablePool> pluggable_pools;  ///< see that function
  /// What of the replays of the made trace is open: the end of a sentence; empty where all is
  /// settled.
  std::string why_inexact;
  std::shared_ptr<const SharedDevice> shared;  ///< null: of one process
};

}  // namespace memreplay
