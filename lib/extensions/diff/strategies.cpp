#include "extensions/diff/strategies.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "extensions/diff/answer.hpp"
#include "program/places.hpp"
#include "program/steps.hpp"
#include "run/run.hpp"

namespace memreplay {
namespace {

/// What is compared of a run, after every event.
class Columns final : public Watcher {
 public:
  explicit Columns(std::size_t events);

  void on_run(const Subject&, const Trial& trial, WatcherGroup&) override {
    device_ = &trial.usage();
  }
  void on_event(const EventState& state, const Strategy& strategy) override;
  void on_run_end(const Trial& trial) override;

  /// After the run: calls that built the start state are not the recording's.
  void leave_out_start(const Run& run);

  std::vector<Bytes> allocated;
  std::vector<Bytes> reserved;
  std::vector<std::uint64_t> calls;
  std::vector<bool> refused;
  std::uint64_t calls_before = 0;

 private:
  const DeviceUsage* device_ = nullptr;  ///< during the run
  std::uint64_t calls_at_end_ = 0;
  std::uint64_t ooms_ = 0;
};

/// Notes what is held after some events of a run that went as that of the columns did.
class HoldingsWatch final : public Watcher {
 public:
  /// All arguments outlive this. The events are the keys of `seen`.
  HoldingsWatch(const Columns& columns, std::map<std::uint64_t, Holding>& seen)
      : columns_(columns), seen_(seen) {}

  void on_run(const Subject&, const Trial& trial, WatcherGroup&) override {
    device_ = &trial.usage();
  }
  void on_event(const EventState& state, const Strategy& strategy) override;

 private:
  const DeviceUsage* device_ = nullptr;  ///< during the run
  const Columns& columns_;
  std::map<std::uint64_t, Holding>& seen_;
};

std::uint64_t calls_of(const DeviceUsage& usage) {
  return usage.allocs + usage.frees + usage.maps + usage.unmaps;
}

Columns::Columns(std::size_t events) {
  allocated.reserve(events);
  reserved.reserve(events);
  calls.reserve(events);
  refused.reserve(events);
}

void Columns::on_event(const EventState& state, const Strategy&) {
  allocated.push_back(state.allocated);
  reserved.push_back(state.reserved);
  calls.push_back(calls_of(*device_));
  refused.push_back(state.ooms != ooms_);
  ooms_ = state.ooms;
}

void Columns::on_run_end(const Trial& trial) { calls_at_end_ = calls_of(trial.usage()); }

void Columns::leave_out_start(const Run& run) {
  calls_before = calls_at_end_ - run.device_calls();
  for (std::uint64_t& count : calls) count -= calls_before;
}

void HoldingsWatch::on_event(const EventState& state, const Strategy& strategy) {
  const auto found = seen_.find(state.event);
  if (found == seen_.end()) return;
  const FreeSpace space = strategy.free_space();
  found->second = {columns_.refused[state.event],
                   state.requested,
                   state.allocated,
                   state.reserved,
                   space.total,
                   space.largest,
                   calls_of(*device_) - columns_.calls_before};
}

template <typename T>
std::optional<std::uint64_t> first_difference(const std::vector<T>& a, const std::vector<T>& b) {
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (in_a == a.end() || in_b == b.end()) return std::nullopt;
  return static_cast<std::uint64_t>(in_a - a.begin());
}

// The stretch with the largest difference, among all in which one side reserves more.
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
  Comparison(const Subject& subject, const std::array<StrategySpec, 2>& specs, const Setup& setup,
             const Control& control)
      : subject_(subject),
        specs_(specs),
        setup_(setup),
        control_(control),
        device_(simulated(sized_for(subject, setup))),
        late_(subject, replay_options(subject.trace(), setup, control)),
        columns_{Columns(subject.trace().size()), Columns(subject.trace().size())} {}

  StrategiesDiff compare() {
    for (std::size_t side = 0; side < 2; ++side) {
      Run& made = diff_.runs[side] = run_on(side, columns_[side]);
      made.device = {};  // both have the same: the answer names it
      diff_.finished = made.finished;
      if (!diff_.finished) return std::move(diff_);
      columns_[side].leave_out_start(made);
    }
    place_runs();
    find_partings();
    const std::vector<Parting*> all = partings();
    if (all.empty()) return std::move(diff_);
    for (std::size_t side = 0; side < 2; ++side) look_again(side, all);
    describe(all);
    return std::move(diff_);
  }

 private:
  Run run_on(std::size_t side, Watcher& watcher) const {
    return run(subject_, specs_[side], device_, setup_, late_, &watcher, control_);
  }

  void place_runs() {
    std::vector<Run> runs(diff_.runs.begin(), diff_.runs.end());
    set_places(runs);
    std::ranges::move(runs, diff_.runs.begin());
  }

  void find_partings() {
    const auto& [a, b] = columns_;
    diff_.allocated_from = first_difference(a.allocated, b.allocated);
    note(diff_.reserved, first_difference(a.reserved, b.reserved));
    note(diff_.device_calls, first_difference(a.calls, b.calls));
    note(diff_.served, first_difference(a.refused, b.refused));
    diff_.lead = lead_of(a.reserved, b.reserved);
    for (std::size_t i = 0; i < a.reserved.size(); ++i) {
      diff_.events_a_more += a.reserved[i] > b.reserved[i];
      diff_.events_b_more += a.reserved[i] < b.reserved[i];
    }
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

  /// A second run for the states at the events that the first one found.
  void look_again(std::size_t side, const std::vector<Parting*>& all) {
    std::map<std::uint64_t, Holding> seen;
    for (const Parting* parting : all) seen[parting->event];
    HoldingsWatch watch(columns_[side], seen);
    diff_.finished &= run_on(side, watch).finished;
    for (Parting* parting : all) parting->holds[side] = seen[parting->event];
  }

  /// What the recording says of these events.
  void describe(const std::vector<Parting*>& all) const {
    const Trace& trace = subject_.trace();
    const Places places(subject_.recording());
    const Steps steps = steps_of(subject_.recording(), trace);
    for (Parting* parting : all) {
      const std::uint64_t event = parting->event;
      parting->op = trace.ops[event];
      parting->step = steps.of(event);
      parting->stream = trace.lane(event).stream;
      if (trace.slots[event] != kNoSlot || is_request(parting->op)) {
        parting->size = trace.sizes[event];
      }
      const Asker asker = asker_of(trace, event);
      if (is_request(parting->op) && asker.known()) parting->place = places.name_of(asker);
    }
  }

  const Subject& subject_;
  const std::array<StrategySpec, 2>& specs_;
  const Setup& setup_;
  const Control& control_;
  OpenDevice device_;
  LateStart late_;
  std::array<Columns, 2> columns_;
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
                               const Setup& setup, const Control& control) {
  return Comparison(subject, specs, setup, control).compare();
}

}  // namespace memreplay
