#include "replay/watch/run_recorder.hpp"

#include <algorithm>
#include <cmath>

namespace memreplay {
namespace {

std::int64_t signed_bytes(Bytes bytes) { return static_cast<std::int64_t>(bytes); }

std::int64_t fragmentation(const FreeSpace& space) {
  constexpr double kMillion = 1e6;
  if (space.total == 0) return 0;
  const double largest = static_cast<double>(space.largest) / static_cast<double>(space.total);
  return std::llround((1 - largest) * kMillion);
}

std::uint64_t moments(const Trace& trace, std::uint64_t to) {
  return std::min<std::uint64_t>(trace.size(), to) + 1;
}

}  // namespace

RunRecorder::RunRecorder(const Trace& trace, const DeviceModel& device, const DeviceLog& log,
                         const Options& options)
    : trace_(trace),
      device_(device),
      log_(log),
      options_(options),
      requested_(moments(trace, options.to), options.most_points),
      allocated_(requested_),
      reserved_(requested_),
      fragmentation_(requested_) {}

void RunRecorder::on_start(const EventState& state, const Strategy& strategy) {
  const ReducedCurve empty(moments(trace_, options_.to), options_.most_points);
  requested_ = allocated_ = reserved_ = fragmentation_ = empty;
  picture_ = {.from = state.event, .to = state.event};
  peaks_ = {};
  held_.clear();
  for (const SegmentInfo& segment : strategy.memory_state().segments) {
    held_[segment.address] = {segment.size, state.event};
  }
  calls_seen_ = log_.events().size();
  peak_reserved_ = state.reserved;
  ooms_ = 0;
  retries_ = strategy.usage().oom_retries;
  add_point(state.event, state, strategy);
}

void RunRecorder::on_event(const EventState& state, const Strategy& strategy) {
  if (state.event < picture_.from) return;
  picture_.to = state.event + 1;
  add_point(picture_.to, state, strategy);
  note_ooms(state, strategy);
  note_retries(state.event, strategy);
  follow_device(picture_.to);
}

void RunRecorder::add_point(std::uint64_t moment, const EventState& state,
                            const Strategy& strategy) {
  const std::int64_t requested = signed_bytes(state.requested);
  const std::int64_t allocated = signed_bytes(state.allocated);
  const std::int64_t reserved = signed_bytes(state.reserved);
  const Bytes highest = state.peak_reserved > peak_reserved_ ? state.peak_reserved : state.reserved;
  peak_reserved_ = state.peak_reserved;
  peaks_.note(moment, state.allocated, highest);
  picture_.fullest = *peaks_.reserved().event;
  requested_.add(moment, requested, requested);
  allocated_.add(moment, allocated, allocated, reserved);
  reserved_.add(moment, reserved, signed_bytes(highest), allocated);
  const std::int64_t share = fragmentation(strategy.free_space());
  fragmentation_.add(moment, share, share);
}

void RunRecorder::note_ooms(const EventState& state, const Strategy& strategy) {
  if (state.ooms == ooms_) return;
  const std::uint64_t count = state.ooms - ooms_;
  ooms_ = state.ooms;
  if (picture_.ooms.size() == options_.most_points) {
    picture_.ooms_left_out += count;
    return;
  }
  const FreeSpace space = strategy.free_space();
  const bool is_known = !options_.refusals_stand;
  const Bytes outside = is_known ? std::min(device_.free_bytes(), space.obtainable) : 0;
  RunPicture::Oom oom{
      state.event, count, {}, space.total + outside, std::max(space.largest, outside)};
  if (!trace_.streamed && is_request(trace_.ops[state.event]) && !state.placement) {
    oom.requested = scaled(trace_.sizes[state.event], options_.scale);
  }
  picture_.ooms.push_back(oom);
}

void RunRecorder::note_retries(std::uint64_t event, const Strategy& strategy) {
  const std::uint64_t retries = strategy.usage().oom_retries;
  if (retries == retries_) return;
  const std::uint64_t count = retries - retries_;
  retries_ = retries;
  if (picture_.retries.size() == options_.most_points) {
    picture_.retries_left_out += count;
  } else {
    picture_.retries.push_back({event, count});
  }
}

void RunRecorder::follow_device(std::uint64_t moment) {
  for (; calls_seen_ < log_.events().size(); ++calls_seen_) {
    const DeviceEvent& call = log_.events()[calls_seen_];
    if (returns_memory(call.op)) {
      release(call.address, call.bytes, moment);
    } else {
      held_[call.address] = {call.bytes, moment};
    }
  }
}

// What is unmapped may be a part of what was mapped at once, or several of those.
void RunRecorder::release(Address address, Bytes bytes, std::uint64_t moment) {
  const Address end = address + bytes;
  auto at = held_.lower_bound(address);
  if (at != held_.begin() && std::prev(at)->first + std::prev(at)->second.bytes > address) --at;
  while (at != held_.end() && at->first < end) {
    const auto [begin, held] = *at;
    at = held_.erase(at);
    close(begin, held, moment);
    if (begin < address) held_[begin] = {address - begin, moment};
    if (begin + held.bytes > end) held_[end] = {begin + held.bytes - end, moment};
  }
}

void RunRecorder::close(Address address, const Held& held, std::uint64_t moment) {
  picture_.segments.push_back({address, held.bytes, held.from, moment});
}

RunPicture RunRecorder::picture() const {
  RunPicture picture = picture_;
  picture.requested = requested_.points();
  picture.allocated = allocated_.points();
  picture.reserved = reserved_.points();
  picture.fragmentation = fragmentation_.points();
  for (const auto& [address, held] : held_) {
    picture.segments.push_back({address, held.bytes, held.from, picture.to});
  }
  auto& segments = picture.segments;
  std::ranges::stable_sort(segments, std::ranges::greater(), &RunPicture::Segment::bytes);
  if (segments.size() > options_.most_points) {
    picture.segments_left_out = segments.size() - options_.most_points;
    segments.resize(options_.most_points);
  }
  std::ranges::stable_sort(segments, {}, &RunPicture::Segment::from);
  return picture;
}

}  // namespace memreplay
