#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/plan.hpp"
#include "replay/program.hpp"
#include "replay/replay.hpp"
#include "strategy/registry.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// A strategy as it plays on one subject. What is known of that before any replay is decided here,
/// once: its rules, its plan, and how exact it can be.
class Contender {
 public:
  /// Without a plan. Throws UsageError for settings that no PyTorch knows. `subject` outlives this.
  Contender(const Subject& subject, StrategySpec spec);
  /// With the plan of a strategy that follows one, for what is played; its time is the planner's.
  Contender(const Subject& subject, StrategySpec spec, const ProgramOptions& program);

  const Subject& subject() const { return *subject_; }
  /// As it was asked for.
  const StrategySpec& spec() const { return spec_; }
  /// The model of PyTorch's allocator that it is; unset for other strategies.
  const std::optional<TorchModel>& model() const { return model_; }
  /// What it must know of the future; null where it follows no plan, or none was made.
  const std::shared_ptr<const Plan>& plan() const { return plan_; }

  /// By the rules that hold for this subject. Throws UsageError where it cannot be made.
  std::unique_ptr<Strategy> make(const StrategyContext& context) const;
  /// The order of its addresses: the policy, or for `automatic` that of the recording, else what is
  /// usual for the strategy.
  AddressPolicy order_of_addresses(AddressPolicy policy) const;

  /// Whether it takes over the state in which a recording starts. PyTorch's allocator does where
  /// its segments stay of the same kind; live blocks are allocated first otherwise.
  bool adopts_start() const;
  /// Whether it is the recorded allocator in every respect, as far as the recording shows: on a
  /// device that gives what the recorded one gave it does what that one did.
  bool follows_recording() const;
  /// Whether its settings are those that were recorded.
  bool has_recorded_settings() const;
  /// Likewise, and its release.
  bool has_recorded_rules() const;
  /// Whether it chooses between free blocks of equal size by where the device put them.
  bool goes_by_address() const;

  /// Whether what was there before the recording, and how it came to lie where it lies, may have
  /// led to another result than this. `room` as below.
  bool start_matters(std::optional<Bytes> room, const ReplayResult& result) const;
  /// Why the recording does not determine what this replay gave; empty where it does.
  /// `start_matters` is what that function says; `room` is what the device had for it, unset for an
  /// endless one.
  std::string why_inexact(bool start_matters, std::optional<Bytes> room,
                          const ReplayResult& result) const;

 private:
  bool places_decide() const;

  const Subject* subject_;
  StrategySpec spec_;
  StrategySpec resolved_;  ///< with the release whose rules it plays by
  std::optional<TorchModel> model_;
  std::shared_ptr<const Plan> plan_;
};

/// Nothing but small blocks, in PyTorch's pool for them, was there before the recording: how the
/// memory of large requests comes to lie is determined under any settings, for the two never meet.
bool starts_small(const Trace& trace);

}  // namespace memreplay
