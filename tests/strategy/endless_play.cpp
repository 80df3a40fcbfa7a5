#include "strategy/endless_play.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace memreplay {
namespace {

constexpr std::size_t kMostPending = 32;
constexpr std::uint64_t kOperationsPerCheck = 1 << 17;
constexpr std::uint64_t kOperationsPerTide = 1 << 14;
constexpr std::size_t kPlanned = 4000;
constexpr PoolId kPools[] = {{0, 0}, {1, 0}, {0, 1}, {0, 2}};
constexpr PoolOptions kPoolOptions[] = {
    {}, {.of_a_graph = true}, {.use_on_oom = true}, {.no_split = true}};

Bytes random_size(std::mt19937_64& random, const Load& load) {
  std::uniform_real_distribution<double> log2(load.smallest_log2, load.largest_log2);
  return static_cast<Bytes>(std::exp2(log2(random)));
}

/// Requests whose places lie one after the other in half of the device, again and again.
std::shared_ptr<const Plan> some_plan(std::mt19937_64& random, const Load& load) {
  Plan plan{.height = round_up(load.capacity.value_or(kGiB) / 2, 512), .alignment = 512};
  Bytes at = 0;
  for (std::size_t i = 0; i < kPlanned; ++i) {
    const Bytes size = random_size(random, load);
    const Bytes end = round_up(at + size, plan.alignment);
    if (end > plan.height) at = 0;
    plan.entries.push_back({size, at, i % 8 != 0});
    at = round_up(at + size, plan.alignment);
  }
  return std::make_shared<const Plan>(std::move(plan));
}

}  // namespace

EndlessPlay::EndlessPlay(const std::string& spec, const Load& load, std::uint64_t seed)
    : spec_(spec),
      load_(load),
      random_(seed),
      ledger_(spec),
      simulated_({.capacity = load.capacity,
                  .policy = load.capacity ? AddressPolicy::first_fit : AddressPolicy::upward}),
      audited_(simulated_, ledger_) {
  const StrategySpec parsed = parse_strategy(spec);
  if (plan_wish(parsed)) plan_ = some_plan(random_, load);
  strategy_ = make_strategy(parsed, {.device = audited_,
                                     .capacity = load.capacity,
                                     .recorded = &settings_,
                                     .pools = kPools,
                                     .pool_options = kPoolOptions,
                                     .plan = plan_});
  abilities_ = strategy_->abilities();
  if (joins_regions(parsed)) ledger_.let_regions_join();
  if (strategy_->usage().moved_out != nullptr) ledger_.expect_moves();
}

void EndlessPlay::play(std::uint64_t operations) {
  for (std::uint64_t i = 0; i < operations; ++i) {
    if (event_ % kOperationsPerTide == 0) wanted_live_ = 1 + random_() % load_.live_blocks;
    one_operation();
    if (++event_ % kOperationsPerCheck == 0) check();
  }
  check();
}

void EndlessPlay::end() {
  while (!live_.empty()) free(take(live_, live_.size() - 1));
  while (!pending_.empty()) complete_some();
  check();
}

void EndlessPlay::one_operation() {
  const auto dice = random_() % 100'000;
  if (dice < 100) {
    something_rare();
  } else if (dice < 5000 && !pending_.empty()) {
    complete_some();
  } else if (live_.empty() || dice % 8 < (live_.size() < wanted_live_ ? 6 : 3)) {
    ask();
  } else {
    free_some();
  }
}

void EndlessPlay::something_rare() {
  const auto dice = random_() % 32;
  if (dice == 0) {
    strategy_->empty_cache();
  } else if (dice == 1 && abilities_.pools != nullptr) {
    const auto pool = static_cast<PoolIndex>(1 + random_() % 3);
    abilities_.pools->release_pool(pool, one_in(2) ? PoolCache::kept : PoolCache::returned);
  } else if (abilities_.steps != nullptr) {
    one_in(2) ? abilities_.steps->marker() : abilities_.steps->safe_frontier(frees_);
  } else {
    return;
  }
  note_what_happened();
}

Bytes EndlessPlay::some_size() {
  if (load_.capacity && one_in(1 << 14)) return *load_.capacity + random_() % kGiB;
  if (plan_ == nullptr) return random_size(random_, load_);
  if (next_planned_ == plan_->entries.size()) next_planned_ = 0;
  const Bytes size = plan_->entries[next_planned_++].size;
  return one_in(8) ? size + 1 : size;
}

Request EndlessPlay::some_request() {
  return {.size = some_size(),
          .alignment = one_in(8) ? Bytes{1} << random_() % 10 : 0,
          .stream = static_cast<StreamIndex>(random_() % 4),
          .pool = static_cast<PoolIndex>(one_in(8) ? random_() % 4 : 0),
          .thread = static_cast<std::uint32_t>(random_() % 4),
          .freed_before = one_in(64) ? frees_ : 0,
          .upper_end = one_in(16)};
}

void EndlessPlay::ask() {
  const Request request = some_request();
  const auto placement = strategy_->allocate(request);
  note_what_happened();
  if (!placement) {
    if (!live_.empty()) free_some();  // makes room
    return;
  }
  ledger_.placed(event_, request, *placement);
  live_.push_back({*placement, {request.stream, request.thread}});
  allocated_ += placement->size;
}

void EndlessPlay::free_some() {
  const Live block = take(live_, random_() % live_.size());
  if (one_in(8) && !block.gone && pending_.size() < kMostPending) {
    ledger_.free_requested(event_, block.placement);
    pending_.push_back(block);
    strategy_->request_free(block.placement.handle);
    note_what_happened();
  } else {
    free(block);
  }
}

void EndlessPlay::free(const Live& block) {
  if (!block.gone) ledger_.freed(event_, block.placement);
  leave(block);
  strategy_->free(block.placement.handle, one_in(8) ? FreeOrigin{1, 1} : block.giver);
  note_what_happened();
}

void EndlessPlay::complete_some() {
  const Live block = take(pending_, random_() % pending_.size());
  ledger_.freed(event_, block.placement);
  leave(block);
  strategy_->complete_free(block.placement.handle);
  note_what_happened();
}

EndlessPlay::Live EndlessPlay::take(std::vector<Live>& blocks, std::size_t victim) {
  std::swap(blocks[victim], blocks.back());
  const Live taken = blocks.back();
  blocks.pop_back();
  return taken;
}

void EndlessPlay::leave(const Live& block) {
  ++frees_;
  if (!block.gone) allocated_ -= block.placement.size;
}

void EndlessPlay::note_what_happened() {
  const StrategyUsage usage = strategy_->usage();
  if (std::exchange(syncs_, usage.syncs) != syncs_) {
    ledger_.synchronised();
    for (Live& block : pending_) lose(block);
  }
  if (usage.moved_out == nullptr) return;
  for (const Handle moved : *usage.moved_out) {
    const auto block =
        std::ranges::find(live_, moved, [](const Live& live) { return live.placement.handle; });
    if (block == live_.end()) fail("a block moved out that is not live");
    ledger_.moved_out(block->placement);
    lose(*block);
  }
}

void EndlessPlay::lose(Live& block) {
  if (!std::exchange(block.gone, true)) allocated_ -= block.placement.size;
}

void EndlessPlay::check() const {
  Bytes used = 0;
  Bytes unused = 0;
  Bytes completed = 0;
  for (const SegmentInfo& segment : strategy_->memory_state().segments) {
    for (const BlockInfo& block : segment.blocks) {
      (block.state == BlockState::free ? unused : used) += block.size;
    }
  }
  for (const Live& block : pending_) {
    if (block.gone) completed += block.placement.size;
  }
  if (used < allocated_ || used > allocated_ + completed) {
    fail(fmt::format("its state shows {} bytes used, {} are allocated", used, allocated_));
  }
  if (const Bytes free = strategy_->free_space().total; free != unused) {
    fail(fmt::format("its state shows {} free bytes, its free space is {}", unused, free));
  }
  if (simulated_.usage().held < allocated_) fail("less is held than allocated");
}

void EndlessPlay::fail(std::string_view what) const {
  throw std::logic_error(fmt::format("strategy '{}', event {}: {}", spec_, event_, what));
}

}  // namespace memreplay
