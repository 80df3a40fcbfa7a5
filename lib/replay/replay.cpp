#include "replay/replay.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "replay/caller.hpp"

namespace memreplay {
namespace {

constexpr std::uint64_t kEventsBetweenChecks = 1 << 14;
/// On a device where a call may take a millisecond.
constexpr std::uint64_t kSlowEventsBetweenChecks = 1 << 6;
constexpr std::chrono::milliseconds kLongestSleep{50};

class Replay {
 public:
  Replay(const Program& program, Strategy& strategy, DeviceModel& device,
         const ReplayOptions& options, const Attached& attached)
      : program_(program),
        strategy_(strategy),
        device_(device),
        options_(options),
        attached_(attached),
        abilities_(strategy.abilities()),
        accounts_(strategy, device, options.measuring, attached.device_seconds),
        caller_(program, strategy, accounts_, options.watcher, attached.times) {
    note_next_act();
    note_next_change();
  }

  ReplayResult run() {
    begin();
    const std::uint64_t end = program_.size();
    for (std::uint64_t event = attached_.from ? attached_.from->event : 0;
         event < end && result_.finished;) {
      event_ = event;
      if (event == options_.measuring.from && event > 0) begin_measuring(event);
      if (event % events_between_checks_ == 0 && !check_in(event, end)) break;
      if (options_.paced) wait_for(event);
      if (next_change_event_ <= event) change_tenants(event);
      if (next_act_event_ <= event) do_acts(event);
      event = is_watched_ ? play_watched(event) : play_stretch(event, end);
    }
    if (result_.finished) make_last_calls(end);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
    result_.metrics = accounts_.finish(took.count(), options_.testimony);
    result_.refusals = device_.usage().refusals;
    result_.blocks = caller_.take_blocks();
    return std::move(result_);
  }

 private:
  void begin() {
    if (attached_.from) return go_on_from(*attached_.from);
    const Begun begun =
        memreplay::begin(program_, strategy_, device_, caller_, options_, attached_.adopt_start);
    if (options_.begin_with) began_ = std::chrono::steady_clock::now();
    result_.started_exact = begun.exact;
    result_.refused_before = begun.refused_before;
    begin_measuring(0);
    for (const Request& request : begun.unserved) note_oom(0, request);
  }

  void go_on_from(const Midway& midway) {
    result_.started_exact = midway.started_exact;
    result_.refused_before = midway.refused_before;
    accounts_.go_on_from(midway.sums);
    caller_.go_on_from(midway);
    next_act_ = midway.next_act;
    note_next_act();
    next_midway_ = midway.event + attached_.midways_every;
  }

  void show_midway(std::uint64_t event) {
    if (attached_.midways_every == 0 || event < next_midway_) return;
    next_midway_ = event + attached_.midways_every;
    const std::span<const Placement> blocks = caller_.blocks();
    attached_.at_midway({event,
                         next_act_,
                         result_.started_exact,
                         result_.refused_before,
                         accounts_.sums(),
                         {blocks.begin(), blocks.end()},
                         caller_.parked()});
  }

  void begin_measuring(std::uint64_t event) {
    if (accounts_.begin_measuring()) ask_for_hope();
    if (options_.watcher) {
      options_.watcher->on_start(accounts_.state_after(event, {}), strategy_);
    }
  }

  /// False: that is the end of it.
  bool check_in(std::uint64_t event, std::uint64_t end) {
    if (cancelled()) result_.finished = false;
    if (program_.feed) program_.feed->advance(event);
    if (options_.stops.progress) {
      options_.stops.progress(static_cast<double>(event) / static_cast<double>(end));
    }
    if (result_.finished) show_midway(event);
    return result_.finished;
  }

  bool cancelled() const { return options_.stops.cancelled && options_.stops.cancelled->load(); }

  void wait_for(std::uint64_t event) {
    const auto due =
        began_ + std::chrono::microseconds(program_.times_us[event] - program_.times_us.front());
    while (!cancelled()) {
      const auto left = due - std::chrono::steady_clock::now();
      if (left <= std::chrono::nanoseconds{0}) return;
      std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, kLongestSleep));
    }
  }

  void note_next_act() {
    const std::vector<InferredCall>& acts = program_.acts;
    next_act_event_ = next_act_ < acts.size() ? acts[next_act_].before : UINT64_MAX;
  }

  void do_acts(std::uint64_t event) {
    for (; next_act_event_ <= event; note_next_act()) {
      caller_.act(event, program_.acts[next_act_++]);
    }
  }

  // After the last event; blocks that other streams use until then stay so.
  void make_last_calls(std::uint64_t end) {
    for (; next_act_ < program_.acts.size(); ++next_act_) {
      const InferredCall& act = program_.acts[next_act_];
      if (act.kind != InferredCall::Kind::complete) caller_.act(end, act);
    }
  }

  void note_next_change() {
    const std::vector<TenantChange>& changes = attached_.tenant_changes;
    next_change_event_ = next_change_ < changes.size() ? changes[next_change_].before : UINT64_MAX;
  }

  void change_tenants(std::uint64_t event) {
    for (; next_change_event_ <= event; note_next_change()) {
      attached_.let_others_hold(attached_.tenant_changes[next_change_++].held);
    }
  }

  /// By the strategy itself, up to where somebody else has something to do. Returns the next event.
  std::uint64_t play_stretch(std::uint64_t event, std::uint64_t end) {
    std::uint64_t to = std::min({end, next_act_event_, next_change_event_});
    to = std::min(to, event + events_between_checks_ - event % events_between_checks_);
    if (event < options_.measuring.from) to = std::min(to, options_.measuring.from);
    const StopPoint halt = strategy_.play({.program = program_,
                                           .from = event,
                                           .to = to,
                                           .blocks = caller_.blocks(),
                                           .tally = accounts_.tally(),
                                           .device = device_.usage(),
                                           .event = event_});
    switch (halt.why) {
      case Pause::none:
        return halt.next;
      case Pause::other:
        return play_watched(halt.next);
      case Pause::refused:
        note_oom(halt.next - 1, program_.request(halt.next - 1));
        [[fallthrough]];
      case Pause::holds_more:
        look_at_device();
        return halt.next;
    }
    return halt.next;
  }

  /// Whoever listens hears of all that happens. Returns the next event.
  std::uint64_t play_watched(std::uint64_t event) {
    event_ = event;
    caller_.prefetch(event);
    play(event);
    return event + 1;
  }

  void play(std::uint64_t event) {
    const Op op = program_.ops[event];
    const Slot slot = program_.slots[event];
    bool concerns_block = false;
    std::optional<Placement> served_after_all;
    switch (op) {
      case Op::allocate:
        concerns_block = allocate(event, slot);
        break;
      case Op::oom:
        served_after_all = issue_refused_request(event);
        break;
      case Op::free:
      case Op::free_requested:
      case Op::free_completed:
        concerns_block = caller_.holds(slot);
        if (concerns_block) free(event, op, slot);
        break;
      case Op::empty_cache:
        if (!program_.keeps_cache) caller_.empty_cache();
        break;
      case Op::marker:
        if (abilities_.steps != nullptr) abilities_.steps->marker();
        break;
      case Op::safe_frontier:
        if (abilities_.steps != nullptr) abilities_.steps->safe_frontier(program_.sizes[event]);
        break;
      default:
        break;
    }
    accounts_.count_event(op);
    if (options_.watcher) {
      std::optional<Placement> concerned = served_after_all;
      if (concerns_block) concerned = caller_.block(slot);
      options_.watcher->on_event(accounts_.state_after(event, concerned), strategy_);
    }
  }

  bool allocate(std::uint64_t event, Slot slot) {
    accounts_.count_request();
    const Request request = program_.request(event);
    if (request.size == 0) return false;
    const bool placed = caller_.place(event, slot, request);
    if (placed) {
      accounts_.note_allocated();
    } else {
      note_oom(event, request);
    }
    look_at_device();
    return placed;
  }

  // A request that the recorded program was refused. Nothing is known of its life: where it is
  // served now, it is freed at once. On a device of unknown size nothing else is known than that it
  // was refused.
  std::optional<Placement> issue_refused_request(std::uint64_t event) {
    const Request request = program_.request(event);
    if (request.size == 0) return std::nullopt;
    if (program_.refusals_stand) {
      note_oom(event, request, OomPlace::RefusedBy::recorded);
      return std::nullopt;
    }
    const auto placement = caller_.place_for_an_instant(request);
    if (placement) {
      accounts_.note_served_after_all(request.size);
    } else {
      note_oom(event, request);
    }
    look_at_device();
    return placement;
  }

  // A moved block needs room again before it is freed; where it finds none, the program stops.
  void free(std::uint64_t event, Op op, Slot slot) {
    if (op == Op::free_requested) return caller_.request_free(event, slot, program_.sizes[event]);
    caller_.free(event, slot);
    if (!caller_.moves_blocks()) return;
    if (!caller_.take_back()) note_oom(event, {.size = program_.sizes[event]});
    look_at_device();
  }

  void look_at_device() {
    if (accounts_.look_at_device()) ask_for_hope();
  }

  void ask_for_hope() {
    if (options_.stops.hopeless && options_.stops.hopeless(accounts_.so_far())) {
      result_.finished = false;
    }
  }

  void note_oom(std::uint64_t event, const Request& request,
                OomPlace::RefusedBy told = OomPlace::RefusedBy::replayed) {
    accounts_.note_oom(event, request, told);
    if (options_.measuring.oom_report && result_.oom_report.empty() &&
        abilities_.oom_report != nullptr) {
      result_.oom_report = abilities_.oom_report->oom_report(request);
    }
    if (options_.stops.at_oom) result_.finished = false;
  }

  const Program& program_;
  Strategy& strategy_;
  DeviceModel& device_;
  const ReplayOptions& options_;
  const Attached& attached_;
  const Abilities abilities_;
  Accounts accounts_;
  Caller caller_;
  std::size_t next_act_ = 0;
  std::uint64_t next_act_event_ = UINT64_MAX;  ///< before it the next act is due
  std::size_t next_change_ = 0;
  std::uint64_t next_change_event_ = UINT64_MAX;  ///< before it other tenants come or go
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  const std::uint64_t events_between_checks_ =
      attached_.times || options_.paced ? kSlowEventsBetweenChecks : kEventsBetweenChecks;
  std::uint64_t next_midway_ = attached_.midways_every;
  std::uint64_t no_event_ = 0;
  std::uint64_t& event_ = attached_.event ? *attached_.event : no_event_;
  /// Somebody wants to know of every event, or it is not the strategy alone that plays it.
  const bool is_watched_ =
      options_.watcher || attached_.times || options_.paced || caller_.moves_blocks();
  ReplayResult result_;
};

}  // namespace

ReplayResult replay(const Program& program, Strategy& strategy, DeviceModel& device,
                    const ReplayOptions& options, const Attached& attached) {
  return Replay(program, strategy, device, options, attached).run();
}

}  // namespace memreplay
