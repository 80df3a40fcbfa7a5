#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/address_policy.hpp"
#include "strategy/torch/torch.hpp"
#include "trace/trace.hpp"
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
  std::vector<SettingsCall> settings_calls = {};  ///< its own, by events of all
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

/// One device of a recording, read as its verification reads it: what every replay of it needs.
class Subject {
 public:
  /// Verifies recordings of PyTorch's allocator. `recording` and `trace` outlive this.
  Subject(const Recording& recording, const Trace& trace);
  /// For a recording that was made from another one, and is not verified. `origin` may be null:
  /// that is the other constructor.
  Subject(const Recording& recording, const Trace& trace, std::shared_ptr<const Origin> origin);

  const Recording& recording() const { return *recording_; }
  /// The trace, with what the recording does not state put right.
  const Trace& trace() const { return *trace_; }
  /// The verification of the trace, or of its origin; null for recordings of other allocators than
  /// PyTorch's.
  const VerifyResult* verified() const { return verified_ ? &*verified_ : nullptr; }
  /// What the recording shows beside its events; null where that is nothing.
  const Reading* reading() const;
  /// The processes whose recordings it was made from; null where it is of one.
  const SharedDevice* shared() const { return origin_ ? origin_->shared.get() : nullptr; }
  /// What the recording was made from; null where it is as it was recorded.
  const Origin* origin() const { return origin_.get(); }
  /// In which the recorded device handed out addresses; unset where it does not show.
  std::optional<AddressPolicy> order() const { return order_; }
  /// See that function.
  const std::vector<PluggablePool>& pluggable_pools() const { return pluggable_pools_; }
  /// The settings of the recorded allocator; null where it was not PyTorch's.
  const RecordedSettings* settings() const { return verified_ ? &settings_ : nullptr; }

  /// The strategy by the rules that hold here: of its own release, else of the one that the
  /// recording fits, or the first after it that knows the settings. Unset still where the recording
  /// or the strategy is another allocator's.
  StrategySpec with_release(const StrategySpec& spec) const;
  /// The model of PyTorch's allocator that the strategy is; unset for other strategies.
  std::optional<TorchModel> model_of(const StrategySpec& spec) const;
  /// The context in which a strategy for this recording is made. `device` outlives it.
  StrategyContext context(DeviceModel& device) const;

 private:
  const Recording* recording_;
  const Trace* trace_;
  std::shared_ptr<const Origin> origin_;
  std::optional<VerifyResult> verified_;
  std::optional<AddressPolicy> order_;
  std::vector<PluggablePool> pluggable_pools_;
  RecordedSettings settings_;  ///< the recording's, as verification reads them
};

/// The strategy that stands for the allocator of a recording: the one that it names, `recorded`
/// where its settings are stored, `pinned` for host memory, else `torch`.
StrategySpec usual_strategy(const Recording& recording);
/// The strategies asked for, else the usual one, by the rules of this PyTorch (empty: as they are).
std::vector<StrategySpec> asked_or_usual(const std::vector<StrategySpec>& asked,
                                         const Recording& recording, const std::string& release);

/// The order in which the recorded device handed out addresses; unset where too few regions show
/// it. O(events log events).
std::optional<AddressPolicy> recorded_order(const Trace& trace);

/// The private pools whose segments all lie a TiB and more from every segment of the default pool:
/// in mapped reservations, where cudaMalloc gives nothing. None where markers say what slept.
/// `texts` are the recording's. O(events log events).
std::vector<PluggablePool> pluggable_pools(const Trace& trace,
                                           const std::vector<std::string>& texts);

}  // namespace memreplay
