#include "replay/trial.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/text.hpp"
#include "replay/sharing.hpp"
#include "replay/sleep_watch.hpp"

namespace memreplay {
namespace {

RealDeviceOptions real_options(const StrategySpec& spec, const SimulatedDeviceOptions& device) {
  using Regions = RealDeviceOptions::Regions;
  RealDeviceOptions options{.capacity = device.capacity, .reserve = device.reserve};
  if (joins_regions(spec)) options.regions = Regions::mapped;
  if (const auto chunk = stitched_chunk(spec)) {
    options.regions = Regions::mapped_in_granules;
    options.granule = *chunk;
  }
  return options;
}

std::optional<Bytes> room_of(const ReplayOptions& options) {
  if (options.memory == nullptr || options.device.capacity) return options.device.room();
  const Bytes free = options.memory->free_bytes();
  return free - std::min(free, options.device.reserve);
}

/// States from which replays may branch: so many at most, of so many slots together.
constexpr std::uint64_t kMostBranches = 24;
constexpr std::uint64_t kSlotsOfBranches = 2'000'000;

ReplayOptions with_capacity(ReplayOptions options, std::optional<Bytes> capacity) {
  options.device.capacity = capacity;
  return options;
}

// Nothing of what the program did was edited.
bool plays_as_recorded(const ReplayOptions& options) {
  const ProgramOptions& program = options.program;
  return !options.begin_with && program.scale == 1 && !program.ignore_empty_cache &&
         program.insert_empty_cache.empty() && program.start == StartMode::automatic;
}

std::vector<SettingsCaller> settings_callers(const Subject& subject, const StrategySpec& spec,
                                             const std::vector<SettingsCall>& asked,
                                             Strategy& strategy) {
  std::vector<SettingsCaller> callers;
  const auto add = [&](const std::vector<SettingsCall>& calls, Strategy& allocator) {
    if (!calls.empty()) callers.emplace_back(calls, allocator);
  };
  if (!asked.empty()) {
    add(asked, strategy);
  } else if (spec.name == "recorded" && subject.shared()) {
    const std::vector<Sharer>& sharers = subject.shared()->sharers;
    for (std::size_t i = 0; i < sharers.size(); ++i) {
      add(sharers[i].settings_calls, allocator_of(strategy, i));
    }
  } else if (spec.name == "recorded" && subject.verified() != nullptr) {
    add(subject.verified()->reading.settings_calls, strategy);
  }
  return callers;
}

}  // namespace

SettingsCaller::SettingsCaller(std::vector<SettingsCall> calls, Strategy& allocator)
    : calls_(std::move(calls)), allocator_(&dynamic_cast<torch::Allocator&>(allocator)) {
  call_before(0);
}

void SettingsCaller::call_before(std::uint64_t event) {
  for (; made_ < calls_.size() && calls_[made_].event <= event; ++made_) {
    allocator_->change_settings(calls_[made_].settings);
  }
}

Trial::Trial(const Contender& contender, const ReplayOptions& options)
    : contender_(contender),
      options_(options),
      settings_(contender.subject().settings() ? *contender.subject().settings()
                                               : RecordedSettings{}),
      room_(room_of(options)),
      device_(&open()) {
  const Subject& subject = contender_.subject();
  const StrategySpec& spec = contender_.spec();
  if (!options.cost.constant()) tell(meter_.emplace(options_.cost));
  if (options.log_device) tell(log_);
  if (options.audit) tell(ledger_.emplace(spec.text));
  if (options.watch_capacity) watched_.emplace(*device_, options.device.granularity);
  StrategyContext context = subject.context(watched_ ? *watched_ : *device_);
  if (context.recorded != nullptr) context.recorded = &settings_;
  context.capacity = options.device.capacity;
  context.plan = contender_.plan();
  context.uses = options.uses;
  strategy_ = subject.shared() ? make_sharing(spec, *subject.shared(), context, room_)
                               : contender_.make(context);
  settings_callers_ = settings_callers(subject, spec, options.settings_calls, *strategy_);
  if (ledger_ && strategy_->usage().moved_out != nullptr) ledger_->expect_moves();
  if (ledger_ && joins_regions(spec)) ledger_->let_regions_join();
}

DeviceModel& Trial::open() {
  if (options_.timed) times_.emplace();
  if (options_.memory == nullptr) return open_simulated();
  timed_memory_.emplace(*options_.memory);
  if (options_.touch != Touch::none) options_.memory->execution().prepare();
  timed_memory_->begin_measuring();
  real_.emplace(*timed_memory_, real_options(contender_.spec(), options_.device));
  work_.emplace(*real_, *timed_memory_, options_.touch, contender_.spec().text);
  timed_device_.emplace(*real_);
  if (times_) {
    times_->device_ns = &timed_device_->total_ns();
    times_->driver_ns = &timed_memory_->total_ns();
  }
  return *timed_device_;
}

DeviceModel& Trial::open_simulated() {
  SimulatedDeviceOptions asked = options_.device;
  asked.policy = contender_.order_of_addresses(asked.policy);
  SimulatedDevice& device = simulated_.emplace(asked);
  const bool follows = asked.like_recorded != LikeRecorded::nothing &&
                       options_.settings_calls.empty() && contender_.follows_recording();
  if (!follows) return device;
  const VerifyResult* verified = contender_.subject().verified();
  // Another allocator's recording does not say what its device refused.
  if (verified == nullptr) asked.like_recorded = LikeRecorded::addresses;
  if (asked.like_recorded == LikeRecorded::addresses_and_refusals) {
    settings_.memory_limit = verified->reading.memory_limit;
  }
  const auto total = verified == nullptr ? std::nullopt : verified->reading.device_total;
  return following_.emplace(device, contender_.subject().trace(), asked, total.value_or(kTiB));
}

void Trial::tell(Watcher& watcher) {
  if (!heard_) device_ = &heard_.emplace(*device_);
  heard_->tell(watcher);
}

Trial::Trial(const Trial& other, std::optional<Bytes> capacity)
    : contender_(other.contender_),
      options_(with_capacity(other.options_, capacity)),
      settings_(other.settings_),
      room_(room_of(options_)),
      simulated_(other.simulated_),
      device_(&*simulated_) {
  simulated_->set_capacity(capacity);
  if (other.following_) device_ = &following_.emplace(*simulated_, *other.following_, capacity);
  watched_.emplace(*device_, *other.watched_);
  strategy_ = other.strategy_->clone(*watched_);
}

bool Trial::may_branch() const {
  return simulated_ && watched_ && !watched_->asked_for_size() && !heard_ && !times_ &&
         settings_callers_.empty() && options_.device.tenants.empty() && contender_.model() &&
         !contender_.subject().shared();
}

ReplayResult Trial::run(Watcher* watcher) {
  return play(watcher == nullptr ? options_.watcher : watcher, {});
}

ReplayResult Trial::run_from(const Midway* midway, const std::function<void(Midway)>& branch) {
  const Trace& trace = contender_.subject().trace();
  const std::uint64_t states = std::clamp<std::uint64_t>(
      kSlotsOfBranches / std::max<std::uint64_t>(trace.slot_count, 1), 1, kMostBranches);
  return play(
      options_.watcher,
      {.from = midway, .midways_every = trace.size() / states + 1, .at_midway = [&](Midway here) {
         if (may_branch()) branch(std::move(here));
       }});
}

ReplayResult Trial::play(Watcher* watcher, Attached attached) {
  ReplayOptions playing = options_;
  attached.adopt_start = contender_.adopts_start() && options_.program.scale == 1;
  attached.device_seconds = meter_ ? &meter_->seconds() : nullptr;
  attached.times = times_ ? &*times_ : nullptr;
  attached.event = following_ ? following_->event() : nullptr;
  if (following_ && !plays_as_recorded(options_)) following_->follow_nothing();
  if (simulated_) {
    attached.tenant_changes = tenant_changes(options_.device.tenants);
    attached.let_others_hold = [this](Bytes size) { simulated_->let_others_hold(size); };
  }
  WatcherGroup watchers;
  SleepWatch sleep(contender_.subject(), simulated_ ? &*simulated_ : nullptr, room_,
                   options_.sleeps_unseen);
  if (sleep.is_needed()) watchers.add(sleep);
  if (watcher != nullptr) watchers.add(*watcher);
  if (ledger_) watchers.add(*ledger_);
  if (work_) watchers.add(*work_);
  for (SettingsCaller& caller : settings_callers_) watchers.add(caller);
  playing.watcher = watchers.empty() ? nullptr : &watchers;
  if (!watchers.empty()) attached.midways_every = 0;
  const Program program = program_of(contender_.subject(), options_.program);
  if (program.feed) attached.midways_every = 0;  // is read from its beginning on
  ReplayResult result;
  try {
    result = replay(program, *strategy_, *device_, playing, attached);
  } catch (const AuditError& error) {
    throw AuditError(contender_.subject().recording().path + ": " + error.what());
  }
  if (following_) {
    result.followed =
        following_->followed(result.finished ? program.size() : *following_->event() + 1);
  }
  RunMetrics& m = result.metrics;
  if (!meter_) {
    m.modelled_device_seconds = modelled_seconds(options_.cost, {.allocs = m.device_allocs,
                                                                 .frees = m.device_frees,
                                                                 .maps = m.device_maps,
                                                                 .unmaps = m.device_unmaps});
  }
  if (work_) work_->finish();
  note_reality(result.metrics);
  note_tenants(result.metrics);
  m.sleeps = sleep.sleeps();
  if (std::string remark = sleep_remark(m.sleeps); !remark.empty()) {
    m.remarks.push_back(std::move(remark));
  }
  return result;
}

void Trial::note_reality(RunMetrics& metrics) {
  if (times_) metrics.times = MeasuredTimes{times_->whole, times_->strategy, {}};
  if (!real_) return;
  if (metrics.times) metrics.times->calls = timed_memory_->times();
  metrics.real = RealUse{timed_memory_->measured(), work_->touched(), real_->not_adopted()};
}

void Trial::note_tenants(RunMetrics& metrics) const {
  const std::vector<OtherTenant>& tenants = options_.device.tenants;
  if (!simulated_ || tenants.empty()) return;
  std::vector<std::string> held;
  for (const OtherTenant& tenant : tenants) {
    held.push_back(fmt::format(
        "{} from event {} on{}", human_size(tenant.size), human_count(tenant.from),
        tenant.to == UINT64_MAX ? "" : fmt::format(" until {}", human_count(tenant.to))));
  }
  const Bytes missed = simulated_->missed_by_others();
  metrics.remarks.push_back(fmt::format(
      "others hold {}{}", fmt::join(held, ", "),
      missed == 0
          ? ""
          : fmt::format("; up to {} of it was not free at first, and is taken as soon as it is",
                        human_size(missed))));
}

Replayed replay(const Contender& contender, ReplayOptions options) {
  Watcher* watcher = options.watcher;
  options.log_device |= watcher != nullptr && watcher->needs_device_log();
  auto trial = std::make_unique<Trial>(contender, options);
  WatcherGroup watchers;
  if (watcher != nullptr) {
    watchers.add(*watcher);
    watcher->on_run(contender.subject(), *trial, watchers);
  }
  ReplayResult result = trial->run(watcher != nullptr ? &watchers : nullptr);
  if (watcher != nullptr) watcher->on_run_end(*trial);
  return {std::move(result), std::move(trial)};
}

bool Branches::leads_to(const Branch& branch, std::optional<Bytes> capacity) const {
  const CapacityWatch& watch = *branch.trial->watch();
  const SimulatedDeviceOptions& device = options_.device;
  const auto with_others = [&](Bytes held) {
    return round_up(held + device.reserve, device.granularity);
  };
  const std::optional<Bytes> refused = watch.least_refused();
  if (!capacity) return !refused;
  return with_others(watch.usage().peak_awake) <= *capacity &&
         (!refused || *capacity < with_others(*refused));
}

Replayed Branches::replay_on(std::optional<Bytes> capacity) {
  while (!branches_.empty() && !leads_to(branches_.back(), capacity)) branches_.pop_back();
  std::unique_ptr<Trial> trial;
  const Midway* midway = nullptr;
  if (branches_.empty()) {
    trial = std::make_unique<Trial>(contender_, with_capacity(options_, capacity));
  } else {
    trial = std::make_unique<Trial>(*branches_.back().trial, capacity);
    midway = &branches_.back().midway;
  }
  ReplayResult result = trial->run_from(midway, [&](Midway here) {
    branches_.push_back({std::move(here), std::make_unique<const Trial>(*trial, capacity)});
  });
  return {std::move(result), std::move(trial)};
}

FollowingDevice::FollowingDevice(SimulatedDevice& device, const FollowingDevice& other,
                                 std::optional<Bytes> capacity)
    : DeviceWrapper(device),
      device_(device),
      trace_(other.trace_),
      asked_(other.asked_),
      refuses_as_recorded_(other.refuses_as_recorded_),
      total_(other.total_),
      calls_(other.calls_),
      next_(other.next_),
      event_(other.event_),
      follows_(other.follows_),
      followed_(other.followed_),
      top_(other.top_),
      reservations_(other.reservations_) {
  asked_.capacity = capacity;
}

FollowingDevice::FollowingDevice(SimulatedDevice& device, const Trace& trace,
                                 const SimulatedDeviceOptions& asked, Bytes total)
    : DeviceWrapper(device),
      device_(device),
      trace_(trace),
      asked_(asked),
      refuses_as_recorded_(asked.like_recorded == LikeRecorded::addresses_and_refusals),
      total_(total) {
  if (refuses_as_recorded_) device_.set_capacity(std::nullopt);
  std::uint64_t behind_request = 0;
  std::size_t open = 0;  // the first call whose request did not come yet
  for (std::uint64_t i = 0; i < trace.size(); ++i) {
    const Op op = trace.ops[i];
    if (is_driver_event(op)) {
      calls_.push_back({op, trace.addresses[i], trace.sizes[i], i, behind_request, trace.size()});
    }
    if (!is_request(op)) continue;
    for (; open < calls_.size(); ++open) calls_[open].to = i;
    behind_request = i + 1;
  }
}

void FollowingDevice::follow_nothing() {
  follows_ = false;
  followed_.reset();
  device_.set_capacity(asked_.capacity);
}

std::optional<Followed> FollowingDevice::followed(std::uint64_t events) const {
  if (!follows_ || next_ == calls_.size() || calls_[next_].event >= events) return followed_;
  return Followed{false, calls_[next_].event};
}

void FollowingDevice::leave() {
  follows_ = false;
  followed_ = Followed{false, event_};
  let_go_on(device_);
}

void FollowingDevice::let_go_on(SimulatedDevice& device) const {
  device.set_capacity(asked_.capacity);
  if (asked_.policy == AddressPolicy::upward) device.go_on_above(top_);
  for (const auto& [at, size] : reservations_) device.keep_clear_of(at, size);
}

const FollowingDevice::Call* FollowingDevice::due() {
  if (next_ == calls_.size() || event_ < calls_[next_].from) return nullptr;
  // A recorded call that nobody made.
  if (calls_[next_].to < event_) leave();
  return follows_ ? &calls_[next_] : nullptr;
}

void FollowingDevice::note_returned(Op op, Address at, std::optional<Bytes> size) {
  const Call* call = follows_ ? due() : nullptr;
  if (!follows_) return;
  if (call != nullptr && call->op == op && call->address == at &&
      size.value_or(call->size) == call->size) {
    ++next_;
  } else {
    leave();
  }
}

bool FollowingDevice::refuses(bool recorded, Bytes size) {
  const bool full = refuses_as_recorded_ ? !recorded : !device_.has_room_for(size);
  if (full == recorded) leave();
  return full;
}

std::unique_ptr<DeviceModel> FollowingDevice::clone() const {
  auto copy = std::make_unique<SimulatedDevice>(device_);
  let_go_on(*copy);
  return copy;
}

std::optional<Address> FollowingDevice::obtain(Bytes size) {
  const Call* call = follows_ ? due() : nullptr;
  if (!follows_) return device_.obtain(size);
  const bool recorded = call != nullptr && call->op == Op::segment_alloc && call->size == size;
  if (refuses(recorded, size)) {
    device_.refuse();
    return std::nullopt;
  }
  if (!follows_) return device_.obtain(size);
  ++next_;
  note_given(call->address, size);
  device_.obtain_at(call->address, size);
  return call->address;
}

void FollowingDevice::give_back(Address region) {
  note_returned(Op::segment_free, region);
  device_.give_back(region);
}

void FollowingDevice::adopt(Address region, Bytes size, bool mapped) {
  device_.adopt(region, size, mapped);
  // It lies in a reservation, as long as PyTorch makes it, of which it may be the first part.
  const Bytes reserved = mapped ? std::max(size, total_bytes() + total_bytes() / 8) : size;
  if (mapped) reservations_[region] = reserved;
  note_given(region, reserved);
}

Bytes FollowingDevice::total_bytes() const {
  return follows_ && refuses_as_recorded_ ? total_ : device_.total_bytes();
}

Bytes FollowingDevice::free_bytes() const {
  if (!follows_ || !refuses_as_recorded_) return device_.free_bytes();
  if (event_ < trace_.size() && trace_.ops[event_] == Op::oom) return trace_.addresses[event_];
  const Bytes room = asked_.room().value_or(device_.total_bytes());
  return room - std::min(room, device_.usage().held);
}

std::optional<Address> FollowingDevice::reserve(Bytes size) {
  const Call* call = follows_ ? due() : nullptr;
  const bool recorded = call != nullptr && call->op == Op::segment_map;
  if (follows_ && !recorded && refuses_as_recorded_) return std::nullopt;
  // As long as this device makes them, they need not fit between the recorded ones.
  const bool fits = refuses_as_recorded_ || (recorded && is_unreserved(call->address, size));
  if (follows_ && !(recorded && fits)) leave();
  if (!follows_) return device_.reserve(size);
  reservations_[call->address] = size;
  note_given(call->address, size);
  return call->address;
}

bool FollowingDevice::is_unreserved(Address at, Bytes size) const {
  return std::ranges::none_of(reservations_, [&](const auto& other) {
    return other.first < at + size && at < other.first + other.second;
  });
}

bool FollowingDevice::map(Address at, Bytes size, Bytes granule) {
  const Call* call = follows_ ? due() : nullptr;
  if (!follows_) return device_.map(at, size, granule);
  const bool recorded =
      call != nullptr && call->op == Op::segment_map && call->address == at && call->size == size;
  if (refuses(recorded, size)) {
    device_.refuse();
    return false;
  }
  if (follows_) ++next_;
  return device_.map(at, size, granule);
}

void FollowingDevice::unmap(Address at, Bytes size) {
  note_returned(Op::segment_unmap, at, size);
  device_.unmap(at, size);
}

// How long a recorded reservation really was is not in the recording: it may reach into the next.
void FollowingDevice::release(Address at) {
  if (reservations_.erase(at) == 0) device_.release(at);
}

}  // namespace memreplay
