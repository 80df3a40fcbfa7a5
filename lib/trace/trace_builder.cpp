#include "trace/trace_builder.hpp"

#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "trace/pages.hpp"

namespace memreplay {
namespace {

constexpr std::tuple kHotColumns{&Trace::ops, &Trace::lane_of, &Trace::slots, &Trace::sizes,
                                 &Trace::align_log2};

/// The position of each provisional number in the ascending order of its key.
template <typename Key, typename Index>
std::vector<Index> ranks(const std::map<Key, Index>& numbers) {
  std::vector<Index> rank_of(numbers.size());
  std::size_t rank = 0;
  for (const auto& [key, number] : numbers) rank_of[number] = static_cast<Index>(rank++);
  return rank_of;
}

template <typename Key, typename Index>
Index number_of(std::map<Key, Index>& numbers, const Key& key, const char* what) {
  if (const auto known = numbers.find(key); known != numbers.end()) return known->second;
  if (numbers.size() >= std::numeric_limits<Index>::max()) {
    throw std::length_error(std::string("more than 65,535 ") + what);
  }
  return numbers.emplace(key, static_cast<Index>(numbers.size())).first->second;
}

}  // namespace

TraceBuilder::TraceBuilder(int gpu) {
  trace_.gpu = gpu;
  pool(PoolId{});
  for_each_column([this](auto column) { (latest_events_.*column).resize(kTogether); });
}

void TraceBuilder::put_behind() {
  const auto put = [this](auto column, std::size_t count) {
    const auto& latest = latest_events_.*column;
    auto& all = trace_.*column;
    all.insert(all.end(), latest.begin(), latest.begin() + static_cast<std::ptrdiff_t>(count));
  };
  std::apply([&](auto... column) { (put(column, count_), ...); }, kHotColumns);
  std::size_t index = 0;
  const auto put_filled = [&](auto column) {
    std::ptrdiff_t& filled = filled_[index++];
    if (filled > 0) put(column, static_cast<std::size_t>(filled));
    filled = filled == static_cast<std::ptrdiff_t>(count_) ? 0 : kBehind;
  };
  std::apply([&](auto... column) { (put_filled(column), ...); }, kColdColumns);
  count_ = 0;
}

void TraceBuilder::reserve_exactly(std::size_t events) {
  std::apply([&](auto... column) { (memreplay::reserve_exactly(trace_.*column, events), ...); },
             kHotColumns);
}

void TraceBuilder::reserve_at_most(std::size_t events) {
  std::apply([&](auto... column) { (memreplay::reserve_at_most(trace_.*column, events), ...); },
             kHotColumns);
}

std::uint16_t TraceBuilder::number_of_lane(const LaneName& name) {
  const StreamPool wanted{stream(name.first), pool(name.second)};
  const auto number = number_of(lanes_, {wanted.stream, wanted.pool}, "pairs of stream and pool");
  if (number == trace_.lanes.size()) {
    trace_.lanes.push_back(wanted);
    lane_names_.push_back(name);
  }
  return number;
}

StreamIndex TraceBuilder::stream(std::uint64_t handle) {
  return number_of(streams_, handle, "streams");
}

PoolIndex TraceBuilder::pool(PoolId id) { return number_of(pools_, id, "pools"); }

Trace TraceBuilder::finish() {
  if (count_ > 0) put_behind();
  if (trace_.lanes.empty()) lane(streams_.empty() ? 0 : streams_.begin()->first, PoolId{});
  const auto stream_ranks = ranks(streams_);
  const auto pool_ranks = ranks(pools_);
  for (const auto& [handle, number] : streams_) trace_.streams.push_back(handle);
  for (const auto& [id, number] : pools_) trace_.pools.push_back(id);
  for (StreamPool& lane : trace_.lanes) {
    lane = {stream_ranks[lane.stream], pool_ranks[lane.pool]};
  }
  for (MemoryState* state : {&trace_.start, &trace_.end}) {
    for (SegmentInfo& segment : state->segments) {
      segment.stream = stream_ranks[segment.stream];
      segment.pool = pool_ranks[segment.pool];
    }
  }
  return std::move(trace_);
}

}  // namespace memreplay
