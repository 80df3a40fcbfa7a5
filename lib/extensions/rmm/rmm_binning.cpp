#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/text.hpp"
#include "strategy/parts/strategy_wrapper.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

struct BinningState {
  std::vector<Bytes> sizes;  ///< sizes of the bins, ascending
  std::int64_t binned = 0;
  std::int64_t upstreamed = 0;
};

/// RMM's binning_memory_resource (rapidsai/rmm, detail/binning_memory_resource_impl.cpp): the
/// smallest bin that is large enough serves, above the largest the upstream. A request looks its
/// bin up among a few and costs what the pool there costs.
class RmmBinning final : public StrategyWrapper<> {
 public:
  /// One pool for each size, and then the upstream.
  RmmBinning(BinningState state, Parts pools, HandleTable<PartBlock> blocks = {})
      : StrategyWrapper(std::move(pools), std::move(blocks)), state_(std::move(state)) {}

  std::unique_ptr<Strategy> clone(DeviceModel& device) const override {
    return std::make_unique<RmmBinning>(state_, copies(device), blocks_);
  }

  std::optional<Placement> allocate(const Request& request) override {
    const std::vector<Bytes>& sizes = state_.sizes;
    const auto bin = std::lower_bound(sizes.begin(), sizes.end(), request.size);
    const auto pool = static_cast<std::uint32_t>(bin - sizes.begin());
    ++(bin == sizes.end() ? state_.upstreamed : state_.binned);
    auto placement = part(pool).allocate(request);
    if (placement) placement->handle = blocks_.add({placement->handle, pool});
    return placement;
  }

  /// A limit of the upstream is none of the bins.
  FreeSpace free_space() const override {
    FreeSpace space = StrategyWrapper::free_space();
    space.obtainable = UINT64_MAX;
    return space;
  }

  Testimony testimony() const override {
    Counters counters = {{"binned_requests", state_.binned},
                         {"upstream_requests", state_.upstreamed}};
    for (std::size_t bin = 0; bin < state_.sizes.size(); ++bin) {
      append_counters(counters, fmt::format("bin_{}_", state_.sizes[bin]),
                      part(bin).testimony().counters);
    }
    Testimony upstream = last_part().testimony();
    append_counters(counters, "upstream_", upstream.counters);
    return {std::move(counters), std::move(upstream.remarks)};
  }

  /// It may have been a bin that refused, of which the upstream knows nothing.
  Abilities abilities() override {
    Abilities abilities = StrategyWrapper::abilities();
    abilities.oom_report = nullptr;
    return abilities;
  }

 private:
  BinningState state_;
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
  if (pools.back()->usage().moves_blocks()) {
    throw UsageError("strategy 'rmm-binning': its upstream must leave blocks where they are");
  }
  return std::make_unique<RmmBinning>(BinningState{.sizes = sizes}, std::move(pools));
}

}  // namespace

/// RMM's bins of fixed sizes in front of another strategy.
StrategyInfo rmm_binning_strategy() {
  return {
      .name = "rmm-binning",
      .summary = "RMM's bins of fixed sizes; larger requests go to another strategy (rmm-pool).",
      .options = {{"min_exponent", "N", "18", "The smallest bin is two to the power of it."},
                  {"max_exponent", "N", "22", "The largest bin is two to the power of it."},
                  {"bins", "[SIZE,...]", "none", "Sizes of the bins, instead of powers."},
                  {"blocks_per_chunk", "N", "128",
                   "Blocks that a bin takes from the device at once, at the start too."}},
      .make = make,
      .wraps = true,
      .example = "rmm-binning(rmm-pool):blocks_per_chunk=4",
      .keeps_regions = true,
      .presets = {{"", 2}}};
}

}  // namespace memreplay
