#include "strategy/torch/random_program.hpp"

#include <algorithm>
#include <numeric>

namespace memreplay {
namespace {

template <typename Item>
Item take(std::vector<Item>& from, std::size_t index) {
  const Item item = from[index];
  from.erase(from.begin() + static_cast<std::ptrdiff_t>(index));
  return item;
}

}  // namespace

RandomProgram::RandomProgram(const Habits& habits, std::uint64_t seed, std::uint32_t existing)
    : habits_(habits), random_(seed), usable_pools_(habits.pools) {
  for (Bytes& size : favourites_) size = any_size();
  std::iota(usable_pools_.begin(), usable_pools_.end(), PoolIndex{0});
  while (last_block_ < existing) live_.push_back(++last_block_);
}

Step RandomProgram::next() {
  if (--until_next_phase_ < 0) begin_phase();
  if (below(1000) < habits_.empty_cache_per_mille) return {.kind = Step::Kind::empty_cache};
  if (habits_.releases_pools && below(1000) == 0) {
    if (usable_pools_.size() > 2) {
      return {.kind = below(2) ? Step::Kind::release_pool : Step::Kind::end_mem_pool,
              .pool = take(usable_pools_, 1 + below(usable_pools_.size() - 1))};
    }
  }
  return wants_more() ? allocation() : release();
}

void RandomProgram::begin_phase() {
  constexpr std::array<std::uint64_t, 4> kLargest = {16, 21, 25, 28};
  until_next_phase_ = 500;
  wanted_blocks_ = below(4) ? 50 + below(habits_.most_blocks - 50) : below(10);
  largest_log2_ = kLargest[below(kLargest.size())];
  favourites_[below(favourites_.size())] = any_size();
}

bool RandomProgram::wants_more() {
  if (live_.empty()) return true;
  if (to_free_ > 0) {
    --to_free_;
    return false;
  }
  const std::size_t blocks = live_.size();
  const std::uint64_t percent = blocks < wanted_blocks_ / 2   ? 85
                                : blocks < wanted_blocks_     ? 62
                                : blocks < wanted_blocks_ * 2 ? 40
                                                              : 15;
  return below(100) < percent;
}

Step RandomProgram::allocation() {
  return {.kind = Step::Kind::allocate,
          .stream = static_cast<StreamIndex>(below(habits_.streams)),
          .pool = below(3) ? PoolIndex{0} : usable_pools_[below(usable_pools_.size())],
          .block = ++last_block_,
          .size = size()};
}

Step RandomProgram::release() {
  if (!pending_.empty() && below(100) < habits_.pending_percent) {
    return {.kind = Step::Kind::complete_free, .block = take(pending_, below(pending_.size()))};
  }
  // Often one of the youngest, as programs do.
  const std::size_t youngest = std::min<std::size_t>(live_.size(), 8);
  const std::uint32_t block =
      take(live_, below(2) ? below(live_.size()) : live_.size() - 1 - below(youngest));
  if (below(100) >= habits_.pending_percent) return {.kind = Step::Kind::free, .block = block};
  pending_.push_back(block);
  return {.kind = Step::Kind::request_free, .block = block};
}

Bytes RandomProgram::size() {
  constexpr std::array<Bytes, 3> kOften = {kMiB, 10 * kMiB, 20 * kMiB};
  constexpr std::array<Bytes, 9> kBoundaries = {
      512, 2 * kMiB, 5 * kMiB, 9 * kMiB, 12 * kMiB, 19 * kMiB, 32 * kMiB, 64 * kMiB, 128 * kMiB};
  const std::uint64_t dice = below(100);
  if (!habits_.sizes.empty() && dice < 95) return habits_.sizes[below(habits_.sizes.size())];
  if (dice < 40) return any_size();
  if (dice < 70) return favourites_[below(favourites_.size())];
  const Bytes boundary =
      dice < 90 ? kOften[below(kOften.size())] : kBoundaries[below(kBoundaries.size())];
  // Half a step around it, or anywhere in the step above.
  return below(4) ? boundary - 1 + below(3) * 256 : boundary + below(513);
}

Bytes RandomProgram::any_size() {
  const std::uint64_t end = std::max(largest_log2_, habits_.smallest_log2 + 1);
  const std::uint64_t log2 = habits_.smallest_log2 + below(end - habits_.smallest_log2);
  return (Bytes{1} << log2) + below(Bytes{1} << log2);
}

}  // namespace memreplay
