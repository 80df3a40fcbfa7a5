#include "verify/subject.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/range_set.hpp"
#include "trace/markers.hpp"
#include "verify/pinned_memory.hpp"

namespace memreplay {
namespace {

/// Segments of one pool, but for mapped runs.
struct PoolSegments {
  std::vector<Address> addresses;
  Bytes now = 0;
  Bytes most = 0;
  bool expandable = false;

  void add(Address address, Bytes size) {
    addresses.push_back(address);
    now += size;
    most = std::max(most, now);
  }
};

std::map<PoolIndex, PoolSegments> segments_by_pool(const Trace& trace) {
  std::map<PoolIndex, PoolSegments> pools;
  for (const SegmentInfo& segment : trace.start.segments) {
    PoolSegments& pool = pools[segment.pool];
    pool.expandable |= segment.expandable;
    if (!segment.expandable) pool.add(segment.address, segment.size);
  }
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Op op = trace.ops[i];
    if (!is_driver_event(op)) continue;
    PoolSegments& pool = pools[trace.lane(i).pool];
    pool.expandable |= op == Op::segment_map;
    if (op == Op::segment_alloc) pool.add(trace.addresses[i], trace.sizes[i]);
    if (op == Op::segment_free) pool.now -= std::min(pool.now, trace.sizes[i]);
  }
  return pools;
}

/// `sorted` holds one address or more.
bool lies_apart(Address address, const std::vector<Address>& sorted) {
  const auto above = std::ranges::lower_bound(sorted, address);
  if (above != sorted.end() && *above - address < kTiB) return false;
  return above == sorted.begin() || address - *std::prev(above) >= kTiB;
}

/// Markers tell when pools sleep.
bool says_what_sleeps(const Trace& trace, const std::vector<std::string>& texts) {
  if (trace.tags.empty()) return false;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (trace.ops[i] == Op::marker && texts[trace.tags[i]] == kSleepMarker) return true;
  }
  return false;
}

}  // namespace

Subject::Subject(const Recording& recording, const Trace& trace)
    : Subject(recording, trace, nullptr) {}

Subject::Subject(const Recording& recording, const Trace& trace,
                 std::shared_ptr<const Origin> origin)
    : recording_(&recording),
      trace_(&trace),
      origin_(std::move(origin)),
      order_(origin_ ? origin_->order : recorded_order(trace)),
      pluggable_pools_(origin_ ? origin_->pluggable_pools
                               : memreplay::pluggable_pools(trace, recording.texts)),
      settings_(recording.settings) {
  // In a state without events there is nothing of another allocator to decide.
  if (!is_torch(recording) && trace.size() > 0) return;
  verified_ = origin_ ? origin_->verified : verify(recording, trace);
  if (!verified_) return;
  if (verified_->reading.corrected) trace_ = verified_->reading.corrected.get();
  settings_.request_padding = verified_->reading.request_padding;
  if (settings_.expandable_segments.value_or(false)) {
    settings_.large_alignment = verified_->reading.large_alignment;
  }
}

const Reading* Subject::reading() const {
  if (const SharedDevice* device = shared()) return &device->reading;
  return verified_ ? &verified_->reading : nullptr;
}

StrategySpec Subject::with_release(const StrategySpec& spec) const {
  if (!spec.release.empty() || !verified_) return spec;
  const auto release = torch::release_that_reads(spec, torch::parse_release(verified_->release));
  return release ? under_release(spec, release->text()) : spec;
}

std::optional<TorchModel> Subject::model_of(const StrategySpec& spec) const {
  if (shared() != nullptr) return std::nullopt;  // each process has one of its own
  return torch_model(with_release(spec), settings());
}

StrategyContext Subject::context(DeviceModel& device) const {
  StrategyContext context{
      .device = device, .recorded = settings(), .pools = trace_->pools, .texts = recording_->texts};
  if (verified_) context.pool_options = verified_->reading.pool_options;
  return context;
}

StrategySpec usual_strategy(const Recording& recording) {
  if (recording.format == kPinnedHostFormat) return pinned_strategy(recording.settings.conf);
  if (!recording.strategy.empty()) return parse_strategy(recording.strategy);
  const bool known = is_torch(recording) && recording.settings.known();
  return parse_strategy(known || recording.format == kTogetherFormat ? "recorded" : "torch");
}

std::vector<StrategySpec> asked_or_usual(const std::vector<StrategySpec>& asked,
                                         const Recording& recording, const std::string& release) {
  std::vector<StrategySpec> strategies = asked;
  if (strategies.empty()) strategies.push_back(usual_strategy(recording));
  for (StrategySpec& spec : strategies) spec = under_release(std::move(spec), release);
  return strategies;
}

std::vector<PluggablePool> pluggable_pools(const Trace& trace,
                                           const std::vector<std::string>& texts) {
  if (trace.pools.size() < 2 || trace.streamed || trace.addresses.empty()) return {};
  std::map<PoolIndex, PoolSegments> pools = segments_by_pool(trace);
  std::vector<Address>& usual = pools[0].addresses;
  if (usual.empty() || says_what_sleeps(trace, texts)) return {};
  std::ranges::sort(usual);
  std::vector<PluggablePool> found;
  for (const auto& [pool, segments] : pools) {
    const auto apart = [&](Address address) { return lies_apart(address, usual); };
    if (pool == 0 || segments.expandable || segments.addresses.empty()) continue;
    if (!std::ranges::all_of(segments.addresses, apart)) continue;
    found.push_back({pool, trace.pools[pool], segments.most});
  }
  return found;
}

std::optional<AddressPolicy> recorded_order(const Trace& trace) {
  if (trace.streamed || trace.addresses.empty()) return std::nullopt;
  // In whole runs of NVIDIA's driver large regions begin at multiples of this, but for those that
  // fit into the rest of a run; packed by 2 MiB one in sixteen does.
  constexpr Bytes kPiece = 32 * kMiB;
  std::size_t large = 0;  // regions that no two of share a piece
  std::size_t begin_pieces = 0;
  std::size_t above = 0;  // calls that gave an address above, and below, all before
  std::size_t below = 0;
  AddressRange all{UINT64_MAX, 0};
  const auto look_at = [&](AddressRange region) {
    all = {std::min(all.from, region.from), std::max(all.to, region.to)};
    if (region.size() <= kPiece / 2) return;
    ++large;
    begin_pieces += region.from % kPiece == 0 ? 1 : 0;
  };
  for (const SegmentInfo& segment : trace.start.segments) {
    if (!segment.expandable) look_at({segment.address, segment.address + segment.size});
  }
  RangeSet returned;
  bool reuses = false;
  for (std::uint64_t event = 0; event < trace.size(); ++event) {
    const Op op = trace.ops[event];
    if (op != Op::segment_alloc && op != Op::segment_free) continue;
    const AddressRange region{trace.addresses[event], trace.addresses[event] + trace.sizes[event]};
    if (op == Op::segment_free) {
      if (region.from < region.to) returned.insert(region);
      continue;
    }
    above += region.from >= all.to ? 1 : 0;
    below += region.to <= all.from ? 1 : 0;
    look_at(region);
    for (auto before = returned.above(region.from); before && before->from < region.to;
         before = returned.above(region.from)) {
      reuses = true;
      returned.erase(*before);
    }
  }
  if (all.to == 0) return std::nullopt;
  const bool in_pieces = begin_pieces > 1 && begin_pieces * 4 >= large;
  const std::size_t first = trace.start.segments.empty() ? 1 : 0;  // lies above nothing
  if (trace.gpu < 0 && above == first && below > 0) return AddressPolicy::downward;
  if (in_pieces && above <= below + 1) return AddressPolicy::cuda_linux;
  return reuses ? AddressPolicy::first_fit : AddressPolicy::upward;
}

}  // namespace memreplay
