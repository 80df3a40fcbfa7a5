#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.hpp"
#include "core/text.hpp"
#include "strategy/parts/free_blocks.hpp"
#include "strategy/parts/strategy_wrapper.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

enum class Place : std::uint8_t { device, host, nvme };

struct Tier {
  std::string_view name;
  std::optional<Bytes> capacity;  ///< unset: no limit
  double bytes_per_second = 0;    ///< all the way to the device
  Bytes held = 0;
  Bytes peak = 0;
  Bytes moved_in = 0;   ///< from the device
  Bytes moved_out = 0;  ///< back to the device

  bool has_room(Bytes size) const { return !capacity || size <= *capacity - held; }
};

struct OffloadOptions {
  std::array<Tier, 2> tiers;
  bool largest_first = false;
  std::optional<std::uint32_t> tag;  ///< only blocks with this one are moved
  std::uint64_t uses = 1;
};

/// It has a part while it is on the device.
struct OffloadedBlock : PartBlock {
  Request request;
  std::uint64_t number = 0;  ///< the block's, in the order of requests
  Handle older = kNoHandle;  ///< links the blocks that may be moved
  Handle newer = kNoHandle;
  Place place = Place::device;
  bool movable = false;
};

struct OffloadState {
  OffloadOptions options;
  Handle oldest = kNoHandle;  ///< the oldest block that may be moved
  Handle newest = kNoHandle;
  FreeBlocks by_size;  ///< all that may be moved, where the largest goes first
  std::vector<Handle> moved_out;
  std::uint64_t requests = 0;
  std::uint64_t blocks_moved = 0;
  std::uint64_t unserved_returns = 0;
  double stall_seconds = 0;
};

class Offload final : public StrategyWrapper<OffloadedBlock> {
 public:
  Offload(OffloadState state, Parts inner, DeviceModel& device,
          HandleTable<OffloadedBlock> blocks = {})
      : StrategyWrapper(std::move(inner), std::move(blocks)),
        state_(std::move(state)),
        device_(&device) {}

  std::unique_ptr<Strategy> clone(DeviceModel& device) const override {
    return std::make_unique<Offload>(state_, copies(device), device, blocks_);
  }

  std::optional<Placement> allocate(const Request& request) override {
    state_.moved_out.clear();
    auto placement = make_room_for(request);
    if (!placement) return std::nullopt;
    OffloadedBlock block{PartBlock{placement->handle, 0}, request};
    block.number = state_.requests++;
    placement->handle = blocks_.add(block);
    if (!state_.options.tag || request.tag == *state_.options.tag) make_movable(placement->handle);
    return placement;
  }

  void free(Handle handle, FreeOrigin giver) override {
    begin_free(handle);
    StrategyWrapper::free(handle, giver);
  }
  /// What a stream still uses stays where it is.
  void request_free(Handle handle) override {
    begin_free(handle);
    StrategyWrapper::request_free(handle);
  }
  void complete_free(Handle handle) override {
    begin_free(handle);
    StrategyWrapper::complete_free(handle);
  }
  void empty_cache() override {
    state_.moved_out.clear();
    StrategyWrapper::empty_cache();
  }
  void release_pool(PoolIndex pool, PoolCache cache) override {
    state_.moved_out.clear();
    StrategyWrapper::release_pool(pool, cache);
  }

  void marker() override {
    state_.moved_out.clear();
    StrategyWrapper::marker();
  }
  void safe_frontier(std::uint64_t frees) override {
    state_.moved_out.clear();
    StrategyWrapper::safe_frontier(frees);
  }

  StrategyUsage usage() const override {
    StrategyUsage usage = StrategyWrapper::usage();
    usage.moved_out = &state_.moved_out;
    usage.stall_seconds += state_.stall_seconds;
    usage.unserved_returns += state_.unserved_returns;
    return usage;
  }

  Testimony testimony() const override {
    const auto number = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
    Counters counters = {{"offload_blocks_moved_out", number(state_.blocks_moved)},
                         {"offload_returns_not_served", number(state_.unserved_returns)}};
    for (const Tier& tier : state_.options.tiers) {
      const auto add = [&](std::string_view name, Bytes bytes) {
        counters.emplace_back(fmt::format("offload_{}_{}_bytes", tier.name, name), number(bytes));
      };
      add("written", tier.moved_in);
      add("read", tier.moved_out);
      add("peak", tier.peak);
      add("end", tier.held);
    }
    Testimony inner = last_part().testimony();
    append(counters, std::move(inner.counters));
    std::vector<std::string> remarks = std::move(inner.remarks);
    if (state_.blocks_moved != 0) {
      Bytes moved = 0;
      for (const Tier& tier : state_.options.tiers) moved += tier.moved_in + tier.moved_out;
      remarks.push_back(fmt::format(
          "offload is a model: a trace does not say when a block is used, so each moved block is "
          "assumed to be used {} before its free; it transfers {} and, if nothing overlaps, waits "
          "{:.3g} s",
          state_.options.uses == 1 ? "once" : fmt::format("{} times", state_.options.uses),
          human_size(moved), state_.stall_seconds));
    }
    if (state_.unserved_returns != 0) {
      remarks.push_back(fmt::format(
          "{} could not be moved back for use: the program would have run out of memory there",
          state_.unserved_returns == 1 ? std::string("a moved block")
                                       : human_count(state_.unserved_returns) + " moved blocks"));
    }
    return {std::move(counters), std::move(remarks)};
  }

 private:
  OffloadedBlock& block(Handle handle) { return blocks_[handle]; }
  const OffloadedBlock& block(Handle handle) const { return blocks_.blocks()[handle]; }
  Tier& tier(Place place) { return state_.options.tiers[place == Place::host ? 0 : 1]; }

  void begin_free(Handle handle) {
    state_.moved_out.clear();
    if (block(handle).movable) make_unmovable(handle);
  }

  /// The inner strategy's placement, after as many blocks have moved as it takes.
  std::optional<Placement> make_room_for(const Request& request) {
    const std::uint64_t refusals = device_->usage().refusals;
    auto placement = last_part().allocate(request);
    if (placement || request.size > device_->total_bytes()) return placement;
    // Where neither the device nor a limit stood in the way, more room does not help.
    const bool full =
        device_->usage().refusals != refusals || last_part().free_space().obtainable < request.size;
    if (!full) return std::nullopt;
    for (Handle victim = next_victim(); victim != kNoHandle; victim = next_victim()) {
      if (!move_out(victim)) break;
      // It is no use to ask before there is that much.
      const Bytes free = last_part().free_space().total;
      if (device_->free_bytes() < request.size && free < request.size - device_->free_bytes()) {
        continue;
      }
      placement = last_part().allocate(request);
      if (placement) break;
    }
    return placement;
  }

  Handle next_victim() const {
    if (!state_.options.largest_first) return state_.oldest;
    const auto last = state_.by_size.previous({});
    return last.at_end() ? kNoHandle : state_.by_size[last].block;
  }

  /// False: no tier has room for it.
  bool move_out(Handle handle) {
    OffloadedBlock& victim = block(handle);
    const Bytes size = victim.request.size;
    const Place place = tier(Place::host).has_room(size) ? Place::host : Place::nvme;
    if (!tier(place).has_room(size)) return false;
    make_unmovable(handle);
    last_part().free(victim.inner, {});
    victim.part = kNoPart;
    victim.place = place;
    tier(place).held += size;
    tier(place).peak = std::max(tier(place).peak, tier(place).held);
    transfer(tier(place), tier(place).moved_in, size);
    ++state_.blocks_moved;
    state_.moved_out.push_back(handle);
    return true;
  }

  /// The last use of a moved block, for which it needs room; between uses it is away again.
  void free_own(const OffloadedBlock& freed) override {
    Tier& from = tier(freed.place);
    const Bytes size = freed.request.size;
    // It lies there until it has room on the device.
    const auto placement = state_.options.uses == 0 ? std::nullopt : make_room_for(freed.request);
    from.held -= size;
    if (state_.options.uses == 0) return;
    if (!placement) {
      ++state_.unserved_returns;
      return;
    }
    for (std::uint64_t use = 0; use < state_.options.uses; ++use) {
      if (use != 0) transfer(from, from.moved_in, size);
      transfer(from, from.moved_out, size);
    }
    last_part().free(placement->handle, {});
  }

  void transfer(const Tier& along, Bytes& counted, Bytes size) {
    counted += size;
    state_.stall_seconds += static_cast<double>(size) / along.bytes_per_second;
  }

  void make_movable(Handle handle) {
    OffloadedBlock& last = block(handle);
    last.movable = true;
    last.older = state_.newest;
    (state_.newest == kNoHandle ? state_.oldest : block(state_.newest).newer) = handle;
    state_.newest = handle;
    if (state_.options.largest_first) state_.by_size.insert(key_of(handle));
  }

  void make_unmovable(Handle handle) {
    OffloadedBlock& gone = block(handle);
    gone.movable = false;
    (gone.older == kNoHandle ? state_.oldest : block(gone.older).newer) = gone.newer;
    (gone.newer == kNoHandle ? state_.newest : block(gone.newer).older) = gone.older;
    if (state_.options.largest_first) state_.by_size.erase(key_of(handle));
  }

  /// The last is the largest, the oldest of equals.
  FreeBlock key_of(Handle handle) const {
    return {block(handle).request.size, UINT64_MAX - 1 - block(handle).number, handle};
  }

  OffloadState state_;
  DeviceModel* device_;
};

double bandwidth_option(const StrategySpec& spec, std::string_view key, double gigabytes) {
  const double value = number_option(spec, key, gigabytes);
  if (value <= 0) {
    throw UsageError(fmt::format("strategy 'offload': {} must be above 0 GB/s", key));
  }
  return value * 1e9;
}

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  if (spec.inner.size() != 1) {
    throw UsageError("'offload' wraps one strategy: offload(torch):host=64GiB");
  }
  OffloadState state;
  OffloadOptions& options = state.options;
  options.tiers[0].name = "host";
  options.tiers[1].name = "nvme";
  if (find_option(spec, "host")) options.tiers[0].capacity = size_option(spec, "host", 0);
  options.tiers[1].capacity = size_option(spec, "nvme", 0);
  const double host = bandwidth_option(spec, "host_bandwidth", 25);
  const double nvme = bandwidth_option(spec, "nvme_bandwidth", 5);
  options.tiers[0].bytes_per_second = host;
  options.tiers[1].bytes_per_second = std::min(host, nvme);  // through host memory
  constexpr std::string_view kVictims[] = {"oldest", "largest"};
  options.largest_first = choice_option(spec, "victim", kVictims, 0) == 1;
  options.uses = whole_option(spec, "uses", context.uses);
  if (options.uses > 1'000'000) throw UsageError("strategy 'offload': uses is above 1000000");
  if (const auto tag = find_option(spec, "tag")) {
    const auto text = std::find(context.texts.begin(), context.texts.end(), *tag);
    options.tag = text == context.texts.end()
                      ? UINT32_MAX
                      : static_cast<std::uint32_t>(text - context.texts.begin());
  }
  // A request that is tried again would be the next one of the plan.
  if (plan_wish(spec.inner.front())) {
    throw UsageError("'offload' cannot wrap a strategy that follows a plan");
  }
  std::vector<std::unique_ptr<Strategy>> inner;
  inner.push_back(make_strategy(spec.inner.front(), context));
  if (inner.front()->usage().moves_blocks()) {
    throw UsageError("'offload' cannot wrap a strategy that moves blocks itself");
  }
  return std::make_unique<Offload>(std::move(state), std::move(inner), context.device);
}

}  // namespace

/// Moves live blocks to host memory, then to NVMe, when another strategy is full; in the spirit of
/// ZeRO-Infinity (Rajbhandari et al., SC 2021). A model: a trace does not say when a block is used.
/// O(1) an event beside the inner strategy (O(log live) with victim=largest), O(moved) where it is
/// full.
StrategyInfo offload_strategy() {
  return {.name = "offload",
          .summary = "Moves live blocks to host memory and NVMe when the wrapped strategy is full.",
          .options = {{"host", "SIZE", "no limit", "Host memory that moved blocks may take."},
                      {"nvme", "SIZE", "0",
                       "NVMe space that moved blocks may take, when host memory is full."},
                      {"host_bandwidth", "GB/s", "25", "Between device and host."},
                      {"nvme_bandwidth", "GB/s", "5", "Between host and NVMe."},
                      {"victim", "oldest|largest", "oldest", "Which block is moved next."},
                      {"tag", "NAME", "any", "Only blocks with this tag are moved."},
                      {"uses", "N", "1", "How often a moved block is used before its free."}},
          .make = make,
          .wraps = true,
          .example = "offload(torch)",
          .known_as = {{"swap"}, {"swapping"}},
          .needs_start = true};
}

}  // namespace memreplay
