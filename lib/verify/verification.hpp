#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "strategy/torch/allocator.hpp"
#include "verify/reading.hpp"
#include "verify/scripted_device.hpp"
#include "verify/verify.hpp"

namespace memreplay {

/// Facts that a recording does not state and a reproduction has to take for granted.
struct Assumptions {
  torch::Release release;
  Bytes device_total = kTiB;  ///< as reported; the length of reservations follows from it
  std::optional<Bytes> room;  ///< what the allocator may use of the device, where somebody states
                              ///< it
  std::optional<Bytes> memory_limit;
  Bytes request_padding = 0;       ///< see RecordedSettings
  Bytes large_alignment = 0;       ///< likewise
  std::vector<PoolOptions> pools;  ///< by pool
  /// Releases before a request are taken for garbage collection, not for those of an empty_cache.
  bool prefer_collection = false;
  /// Requests before which the program may have called empty_cache without any effect.
  std::vector<std::uint64_t> idle_empty_caches;
  /// Known calls, by event.
  std::vector<SettingsCall> settings_calls;
  /// Events in whose groups settings may have changed: these are tried on a copy, also under
  /// others.
  std::vector<std::uint64_t> settings_may_change;
  /// Goes on after a divergence from the recorded state, and counts.
  bool resynchronise = false;
};

/// Facts that a divergence shows about the assumptions.
struct Clues {
  /// The threshold of garbage collection lies in [low, high).
  struct Threshold {
    Bytes low = 0;
    Bytes high = 0;
  };
  std::optional<Threshold> threshold;
  std::optional<Bytes> device_total;  ///< at most this
  std::vector<PoolIndex> pools;       ///< private ones that the group concerns
  /// The recorded allocator chose a block at the first address, the model one at the second.
  std::optional<std::pair<Address, Address>> choice;
  std::vector<Address> addresses;  ///< in segments that may belong to another pool
};

/// Makes the model of PyTorch's allocator decide what the recorded one decided, and compares.
/// Events come in groups that end in a request. Driver events of a group are what the scripted
/// device grants, call by call; which of them are those of an `empty_cache` before the request, and
/// which completions the allocator's own synchronisation made, is found by trying it on a copied
/// model. O(1) model operations an event without driver events, O(state) a group with them.
class Verification {
 public:
  Verification(const Recording& recording, const Trace& trace, const Assumptions& assumptions);

  VerifyResult run();
  /// What tries of further explanations may cost altogether, in events and blocks; unlimited where
  /// it is not called. To be called before `run`.
  void limit_work(std::uint64_t most) { work_left_ = most; }
  std::uint64_t work_left() const { return work_left_; }
  /// The clues of the first divergence; empty before it.
  const Clues& clues() const { return clues_; }

 private:
  // The model and its device, which can be tried out and thrown away.
  struct Model {
    std::unique_ptr<ScriptedDevice> device;
    std::unique_ptr<torch::Allocator> allocator;

    Model fork() const;
  };
  // The events up to a request, and that request.
  struct Group {
    std::size_t from = 0;
    std::size_t to = 0;    ///< one after the request, or the end of the trace
    std::size_t tail = 0;  ///< from here on everything belongs to one call of the allocator
    bool has_driver_events = false;
    bool ends_in_request = false;  ///< not so only at the end of the trace
  };
  // One way to explain the tail of a group.
  struct Explanation {
    std::size_t early = 0;    ///< completions that malloc notices at its start
    std::size_t emptied = 0;  ///< driver events of an empty_cache before it
    bool plausible = false;   ///< the device may refuse only what it cannot hold
  };

  Model new_model() const;
  Group next_group(std::size_t from) const;
  std::vector<ScriptEntry> script_of(std::size_t from, std::size_t to) const;
  void note_matched(const Group& group);
  void note_block_size(std::size_t event);
  /// Adds up the model's retries, before it is replaced or at the end.
  void count_retries();

  bool step(Model& model, std::size_t event, std::span<const ScriptEntry> script);
  bool request(Model& model, std::size_t event, std::span<const ScriptEntry> script);
  std::string explain(const Model& model, std::span<const ScriptEntry> script) const;

  void hold(const MemoryState& state);
  bool fits_the_device(const Group& group);
  bool play(const Group& group);
  bool play_as_it_looks(const Group& group);
  bool play_plainly(const Group& group);
  bool play_before_tail(const Group& group);
  bool play_tail(const Group& group);
  bool explain_tail(const Group& group, const Model& base);
  /// The first completion that the request's synchronisation may have made beside those that
  /// explain_tail tries; the group's end where there is none.
  std::size_t first_that_may_have_waited(const Group& group) const;
  bool explain_by_waiting_frees(const Group& group, std::size_t first);
  bool may_try_again(const Group& group, const Model& base);
  bool try_tail(const Group& group, const Model& base, std::span<const ScriptEntry> script,
                const Explanation& explanation);
  bool settings_may_change(const Group& group) const;
  std::vector<SettingsCall> other_settings(const Group& group) const;
  bool explain_by_other_settings(const Group& group);
  void release_pools(Model& model, std::span<const ScriptEntry> script, std::size_t event,
                     PoolIndex in_use);
  bool empty_cache(Model& model, std::span<const ScriptEntry> script, std::size_t event);
  void empty_cache_without_effect(std::size_t event);

  void gather_clues(const Group& group);
  std::optional<Clues::Threshold> possible_threshold(const Group& group);
  struct ReservationBound {
    Bytes length = 0;
    Bytes granule = 0;
  };
  std::optional<ReservationBound> longest_reservation(const Group& group);
  bool resynchronise(const Group& group);

  const Trace& trace_;
  Assumptions assumptions_;
  torch::Settings settings_;
  Model model_;
  std::vector<Handle> handles_;                  ///< by slot
  std::optional<RecordedState> recorded_state_;  ///< only to resynchronise
  std::optional<Divergence> problem_;            ///< in the attempt under way
  std::optional<ScriptEntry> contradiction_;     ///< in the attempt of `problem_`
  std::optional<Handle> misplaced_;              ///< placed elsewhere by the attempt of `problem_`
  Address misplaced_at_ = 0;                     ///< where, by the last attempt that was
  std::uint64_t laid_out_ = 0;                   ///< to resynchronise, in blocks
  std::uint64_t work_left_ = UINT64_MAX;         ///< see limit_work
  Bytes placed_size_ = 0;      ///< size of the last request that was placed as recorded
  Bytes once_held_ = 0;        ///< the device has room for that much at least
  bool empties_idly_ = false;  ///< before the request of the group under way
  Clues clues_;
  VerifyResult result_;
};

/// The limit for which garbage collection starts above `threshold` bytes.
Bytes limit_for_threshold(Bytes threshold, double garbage_collection_threshold);

}  // namespace memreplay
