#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/text.hpp"
#include "strategy/parts/handle_table.hpp"
#include "strategy/parts/regions.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

struct Owned {
  std::uint32_t owner = 0;  ///< index of its pool
  Handle handle = kNoHandle;
};

/// RMM's binning_memory_resource (rapidsai/rmm, detail/binning_memory_resource_impl.cpp): the
/// smallest bin that is large enough serves, above the largest the upstream. A request looks its
/// bin up among a few and costs what the pool there costs.
class RmmBinning final : public Strategy {
 public:
  /// One pool for each size, in ascending order, and the upstream behind them.
  RmmBinning(std::vector<Bytes> sizes, std::vector<std::unique_ptr<Strategy>> pools)
      : sizes_(std::move(sizes)), pools_(std::move(pools)) {}

  std::unique_ptr<Strategy> clone(DeviceModel& device) const override {
    std::vector<std::unique_ptr<Strategy>> pools;
    for (const auto& pool : pools_) pools.push_back(pool->clone(device));
    auto copy = std::make_unique<RmmBinning>(sizes_, std::move(pools));
    copy->blocks_ = blocks_;
    copy->binned_ = binned_;
    copy->upstreamed_ = upstreamed_;
    return copy;
  }

  std::optional<Placement> allocate(const Request& request) override {
    const auto bin = std::lower_bound(sizes_.begin(), sizes_.end(), request.size);
    const auto owner = static_cast<std::uint32_t>(bin - sizes_.begin());
    ++(bin == sizes_.end() ? upstreamed_ : binned_);
    auto placement = pools_[owner]->allocate(request);
    if (placement) placement->handle = blocks_.add({owner, placement->handle});
    return placement;
  }

  void free(Handle handle) override {
    const Owned block = blocks_.remove(handle);
    pools_[block.owner]->free(block.handle);
  }
  void free_by(Handle handle, const Giver& giver) override {
    const Owned block = blocks_.remove(handle);
    pools_[block.owner]->free_by(block.handle, giver);
  }
  void request_free(Handle handle) override {
    const Owned block = blocks_.blocks()[handle];
    pools_[block.owner]->request_free(block.handle);
  }
  void complete_free(Handle handle) override {
    const Owned block = blocks_.remove(handle);
    pools_[block.owner]->complete_free(block.handle);
  }
  void empty_cache() override {
    for (const auto& pool : pools_) pool->empty_cache();
  }
  void release_pool(PoolIndex released, bool at_once) override {
    for (const auto& pool : pools_) pool->release_pool(released, at_once);
  }
  void marker() override {
    for (const auto& pool : pools_) pool->marker();
  }
  void safe_frontier(std::uint64_t frees) override {
    for (const auto& pool : pools_) pool->safe_frontier(frees);
  }

  FreeSpace free_space() const override {
    FreeSpace space;
    for (const auto& pool : pools_) space.add(pool->free_space());
    return space;
  }

  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges;
    for (const auto& pool : pools_) {
      for (const AddressRange& range : pool->free_ranges()) ranges.push_back(range);
    }
    return ranges;
  }

  bool joins_regions() const override {
    return std::ranges::any_of(pools_, [](const auto& pool) { return pool->joins_regions(); });
  }

  StrategyUsage usage() const override {
    StrategyUsage sum;
    for (const auto& pool : pools_) sum.add(pool->usage());
    return sum;
  }

  Counters counters() const override {
    Counters named = {{"binned_requests", binned_}, {"upstream_requests", upstreamed_}};
    for (std::size_t bin = 0; bin < sizes_.size(); ++bin) {
      for (const auto& [name, value] : pools_[bin]->counters()) {
        named.emplace_back(fmt::format("bin_{}_{}", sizes_[bin], name), value);
      }
    }
    for (const auto& [name, value] : pools_.back()->counters()) {
      named.emplace_back("upstream_" + name, value);
    }
    return named;
  }

  std::vector<std::string> remarks() const override { return pools_.back()->remarks(); }

  MemoryState memory_state() const override {
    std::vector<MemoryState> parts;
    for (const auto& pool : pools_) parts.push_back(pool->memory_state());
    return together(std::move(parts));
  }

 private:
  std::vector<Bytes> sizes_;
  std::vector<std::unique_ptr<Strategy>> pools_;
  HandleTable<Owned> blocks_;
  std::int64_t binned_ = 0;
  std::int64_t upstreamed_ = 0;
};

/// The sizes of "[256KiB,1MiB]".
std::vector<Bytes> parse_bins(std::string_view text) {
  const auto fail = [&] {
    throw UsageError(fmt::format(
        "strategy 'rmm-binning': bins is '{}'; expected sizes in brackets: [256KiB,1MiB]", text));
  };
  if (!text.starts_with('[') || !text.ends_with(']')) fail();
  std::string_view list = text.substr(1, text.size() - 2);
  std::vector<Bytes> sizes;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const auto size = parse_size(list.substr(0, comma));
    if (!size || *size == 0 || comma + 1 == list.size()) fail();
    sizes.push_back(*size);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return sizes;
}

std::vector<Bytes> bin_sizes(const StrategySpec& spec) {
  std::vector<Bytes> sizes;
  if (const auto bins = find_option(spec, "bins")) {
    sizes = parse_bins(*bins);
  } else {
    const auto low = whole_option(spec, "min_exponent", 18, 0, 62);
    const auto high = whole_option(spec, "max_exponent", 22, 0, 62);
    if (low > high) {
      throw UsageError("strategy 'rmm-binning': min_exponent is above max_exponent");
    }
    for (auto exponent = low; exponent <= high; ++exponent) sizes.push_back(Bytes{1} << exponent);
  }
  constexpr Bytes kAlign = 256;
  for (Bytes& size : sizes) size = std::max(size, round_up(size, kAlign));
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  if (spec.inner.size() > 1) {
    throw UsageError("strategy 'rmm-binning': expected one upstream in parentheses");
  }
  if (!spec.inner.empty() && plan_wish(spec.inner[0])) {
    throw UsageError(
        "strategy 'rmm-binning': its upstream sees only some requests, which no plan knows");
  }
  const auto blocks = whole_option(spec, "blocks_per_chunk", 128, 1);
  const std::vector<Bytes> sizes = bin_sizes(spec);
  std::vector<std::unique_ptr<Strategy>> pools;
  for (const Bytes size : sizes) {
    const auto pool = fmt::format("rmm-fixed:block={},blocks_per_chunk={}", size, blocks);
    pools.push_back(make_strategy(parse_strategy(pool), context));
  }
  pools.push_back(
      make_strategy(spec.inner.empty() ? parse_strategy("rmm-pool") : spec.inner[0], context));
  if (pools.back()->moved_out() != nullptr) {
    throw UsageError("strategy 'rmm-binning': its upstream must leave blocks where they are");
  }
  return std::make_unique<RmmBinning>(sizes, std::move(pools));
}

}  // namespace

/// RMM's bins of fixed sizes in front of another strategy.
StrategyInfo rmm_binning_strategy() {
  return {.name = "rmm-binning",
          .summary = "RMM's bins of fixed sizes; above them another strategy, else rmm-pool.",
          .options = {{"min_exponent", "N", "18", "The smallest bin is two to the power of it."},
                      {"max_exponent", "N", "22", "The largest, likewise."},
                      {"bins", "[SIZE,...]", "none", "Sizes of the bins, instead of powers."},
                      {"blocks_per_chunk", "N", "128",
                       "Blocks that a bin takes from the device at once, at the start too."}},
          .make = make,
          .wraps = true,
          .example = "rmm-binning(rmm-pool):blocks_per_chunk=4",
          .keeps_regions = true};
}

}  // namespace memreplay
