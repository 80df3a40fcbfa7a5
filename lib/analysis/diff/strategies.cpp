#include "analysis/diff/strategies.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "analysis/recorded/places.hpp"
#include "analysis/recorded/steps.hpp"
#include "replay/exactness.hpp"

namespace memreplay {
namespace {

std::uint64_t calls_of(const DeviceUsage& usage) {
  return usage.allocs + usage.frees + usage.maps + usage.unmaps;
}

std::uint64_t calls_of(const RunMetrics& m) {
  return m.device_allocs + m.device_frees + m.device_maps + m.device_unmaps;
}

/// What is compared, after every event.
class Columns final : public ReplayObserver {
 public:
  Columns(const DeviceUsage& device, std::size_t events) : device_(device) {
    allocated.reserve(events);
    reserved.reserve(events);
    calls.reserve(events);
    refused.reserve(events);
  }

  void on_event(const EventState& state, const Strategy&) override {
    allocated.push_back(state.allocated);
    reserved.push_back(state.reserved);
    calls.push_back(calls_of(device_));
    refused.push_back(state.ooms != ooms_);
    ooms_ = state.ooms;
  }

  /// Calls that built the start state are not the recording's.
  void leave_out_start(const RunMetrics& metrics) {
    calls_before = calls_of(device_) - calls_of(metrics);
    for (std::uint64_t& count : calls) count -= calls_before;
  }

  std::vector<Bytes> allocated;
  std::vector<Bytes> reserved;
  std::vector<std::uint64_t> calls;
  std::vector<bool> refused;
  std::uint64_t calls_before = 0;

 private:
  const DeviceUsage& device_;
  std::uint64_t ooms_ = 0;
};

/// Notes what is held after some events.
class Witness final : public ReplayObserver {
 public:
  Witness(const DeviceUsage& device, const Columns& columns, std::map<std::uint64_t, Holding>& seen)
      : device_(device), columns_(columns), seen_(seen) {}

  void on_event(const EventState& state, const Strategy& strategy) override {
    const auto found = seen_.find(state.event);
    if (found == seen_.end()) return;
    const FreeSpace space = strategy.free_space();
    found->second = {columns_.refused[state.event],
                     state.requested,
                     state.allocated,
                     state.reserved,
                     space.total,
                     space.largest,
                     calls_of(device_) - columns_.calls_before};
  }

 private:
  const DeviceUsage& device_;
  const Columns& columns_;
  std::map<std::uint64_t, Holding>& seen_;
};

template <typename T>
std::optional<std::uint64_t> first_difference(const std::vector<T>& a, const std::vector<T>& b) {
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (in_a == a.end() || in_b == b.end()) return std::nullopt;
  return static_cast<std::uint64_t>(in_a - a.begin());
}

// Of all stretches in which one reserves more, the one with the largest difference.
std::optional<Lead> lead_of(const std::vector<Bytes>& a, const std::vector<Bytes>& b) {
  std::optional<Lead> best;
  Bytes most = 0;
  for (std::uint64_t from = 0; from < a.size();) {
    const auto order = a[from] <=> b[from];
    std::uint64_t furthest = from;
    Bytes far = 0;
    std::uint64_t to = from;
    for (; to < a.size() && (a[to] <=> b[to]) == order; ++to) {
      const Bytes difference = std::max(a[to], b[to]) - std::min(a[to], b[to]);
      if (difference <= far) continue;
      far = difference;
      furthest = to;
    }
    if (far > most) {
      most = far;
      best = Lead{order > 0 ? std::size_t{0} : std::size_t{1}, from, to, {.event = furthest}};
    }
    from = to;
  }
  return best;
}

class Comparison {
 public:
  Comparison(const Subject& subject, const std::array<StrategySpec, 2>& specs,
             const TrialOptions& options, const ReplayOptions& replaying)
      : subject_(subject), specs_(specs), options_(options), replaying_(replaying) {}

  StrategiesDiff run() {
    for (std::size_t side = 0; side < 2; ++side) {
      replay_all(side);
      if (!diff_.finished) return std::move(diff_);
    }
    const Columns& a = *columns_[0];
    const Columns& b = *columns_[1];
    diff_.allocated_from = first_difference(a.allocated, b.allocated);
    note(diff_.reserved, first_difference(a.reserved, b.reserved));
    note(diff_.device_calls, first_difference(a.calls, b.calls));
    note(diff_.served, first_difference(a.refused, b.refused));
    diff_.lead = lead_of(a.reserved, b.reserved);
    for (std::size_t i = 0; i < a.reserved.size(); ++i) {
      diff_.events_a_more += a.reserved[i] > b.reserved[i];
      diff_.events_b_more += a.reserved[i] < b.reserved[i];
    }
    look_again();
    return std::move(diff_);
  }

 private:
  void replay_all(std::size_t side) {
    plans_[side] = plan_for(subject_, specs_[side], replaying_);
    trials_[side] = std::make_unique<Trial>(subject_, specs_[side], options_, plans_[side]);
    columns_[side].emplace(trials_[side]->usage(), subject_.trace().size());
    ReplayOptions replaying = replaying_;
    replaying.observer = &*columns_[side];
    diff_.runs[side] = trials_[side]->run(replaying);
    diff_.finished = diff_.runs[side].finished;
    columns_[side]->leave_out_start(diff_.runs[side].metrics);
    std::optional<Bytes> room;
    if (options_.device.capacity) {
      room =
          *options_.device.capacity - std::min(*options_.device.capacity, options_.device.reserve);
    }
    diff_.inexact_because[side] =
        why_inexact(subject_, specs_[side], options_.torch_version, room, diff_.runs[side]);
  }

  static void note(std::optional<Parting>& parting, std::optional<std::uint64_t> event) {
    if (event) parting = Parting{.event = *event};
  }

  std::vector<Parting*> partings() {
    std::vector<Parting*> all;
    for (auto* parting : {&diff_.reserved, &diff_.device_calls, &diff_.served}) {
      if (*parting) all.push_back(&**parting);
    }
    if (diff_.lead) all.push_back(&diff_.lead->furthest);
    return all;
  }

  // A second replay for the states at the events that the first one found.
  void look_again() {
    const std::vector<Parting*> all = partings();
    if (all.empty()) return;
    const Trace& trace = subject_.trace();
    const Places places(subject_.recording());
    const Steps steps = steps_of(subject_.recording(), trace);
    for (std::size_t side = 0; side < 2; ++side) {
      std::map<std::uint64_t, Holding> seen;
      std::uint64_t last = 0;
      for (const Parting* parting : all) {
        seen[parting->event];
        last = std::max(last, parting->event);
      }
      Trial trial(subject_, specs_[side], options_, plans_[side]);
      Witness witness(trial.usage(), *columns_[side], seen);
      ReplayOptions replaying = replaying_;
      replaying.observer = &witness;
      replaying.to = last + 1;
      diff_.finished &= trial.run(replaying).finished;
      for (Parting* parting : all) parting->holds[side] = seen[parting->event];
    }
    for (Parting* parting : all) {
      const std::uint64_t event = parting->event;
      parting->op = trace.ops[event];
      parting->step = steps.of(event);
      parting->stream = trace.lane(event).stream;
      if (trace.slots[event] != kNoSlot || is_request(parting->op)) {
        parting->size = trace.sizes[event];
      }
      const std::uint32_t stack = trace.stacks.empty() ? 0 : trace.stacks[event];
      if (is_request(parting->op) && stack != 0) parting->place = places.name_of_stack(stack);
    }
  }

  const Subject& subject_;
  const std::array<StrategySpec, 2>& specs_;
  const TrialOptions& options_;
  const ReplayOptions& replaying_;
  std::array<std::shared_ptr<const Plan>, 2> plans_;
  std::array<std::unique_ptr<Trial>, 2> trials_;  ///< outlive the columns, which see their devices
  std::array<std::optional<Columns>, 2> columns_;
  StrategiesDiff diff_;
};

}  // namespace

const Parting* StrategiesDiff::first() const {
  const Parting* first = nullptr;
  for (const auto* parting : {&reserved, &device_calls, &served}) {
    if (*parting && (first == nullptr || (*parting)->event < first->event)) first = &**parting;
  }
  return first;
}

StrategiesDiff diff_strategies(const Subject& subject, const std::array<StrategySpec, 2>& specs,
                               const TrialOptions& options, const ReplayOptions& replaying) {
  return Comparison(subject, specs, options, replaying).run();
}

}  // namespace memreplay
