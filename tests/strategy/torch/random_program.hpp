#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "strategy/torch/duel.hpp"

namespace memreplay {

/// What a program uses, beside sizes.
struct Habits {
  StreamIndex streams = 1;
  PoolIndex pools = 1;
  std::uint64_t pending_percent = 0;  ///< share of frees that complete later
  std::uint64_t empty_cache_per_mille = 0;
  bool releases_pools = false;
  std::uint64_t smallest_log2 = 4;
  std::size_t most_blocks = 300;
  std::vector<Bytes> sizes = {};  ///< most requests have one of these; empty: any
};

/// A program that keeps up to 300 blocks, with a pause now and then, of sizes where rules begin and
/// end and of few others, so that equal ones are frequent.
class RandomProgram {
 public:
  /// Blocks from 1 to `existing` are there already.
  RandomProgram(const Habits& habits, std::uint64_t seed, std::uint32_t existing = 0);

  Step next();
  /// What became of the last allocation.
  void granted() { live_.push_back(last_block_); }
  void refused() { to_free_ = below(4); }

 private:
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  void begin_phase();
  bool wants_more();
  Step allocation();
  Step release();
  Bytes size();
  Bytes any_size();

  Habits habits_;
  std::mt19937_64 random_;
  int until_next_phase_ = 0;
  std::size_t wanted_blocks_ = 0;
  std::uint64_t largest_log2_ = 28;
  std::array<Bytes, 8> favourites_{};
  std::vector<PoolIndex> usable_pools_;
  std::vector<std::uint32_t> live_;
  std::vector<std::uint32_t> pending_;
  std::uint32_t last_block_ = 0;
  std::uint64_t to_free_ = 0;
};

}  // namespace memreplay
