#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/error.hpp"
#include "device/simulated_device.hpp"
#include "strategy/allocators_corpus.hpp"
#include "strategy/registry.hpp"
#include "strategy/strategy_against_model.hpp"
#include "support/counter_of.hpp"
#include "support/memory_picture.hpp"
#include "support/slow_device.hpp"

namespace memreplay {
namespace {

std::string spec_of(const nlohmann::json& config) {
  std::string pools;
  for (const auto& pool : config["pools"]) pools += (pools.empty() ? "" : ";") + pool.dump();
  return fmt::format("tlsf:pools=[{}],second_level_log2={}", pools,
                     config["second_level_log2"].dump());
}

/// The strategy as the original's recorder drove it, and the rows that it wrote.
class TlsfRecorder {
 public:
  explicit TlsfRecorder(const nlohmann::json& config)
      : device_({.granularity = 4096, .address_gap = 2 * kMiB}),
        strategy_(make_strategy(parse_strategy(spec_of(config)), {.device = device_})) {}

  RecordedRow play(const RecordedOperation& operation) {
    std::int64_t offset = -1;
    std::int64_t block_size = 0;
    if (operation.op == 'a' && operation.size != 0) {
      const auto got =
          strategy_->allocate({.size = operation.size, .alignment = operation.alignment});
      if (got) {
        offset = static_cast<std::int64_t>(got->address - kRecordedBase);
        block_size = static_cast<std::int64_t>(got->size) - 8;
        live_[operation.id] = *got;
        in_use_ += block_size;
      }
    } else if (const auto block = live_.find(operation.id);
               operation.op == 'f' && block != live_.end()) {
      offset = static_cast<std::int64_t>(block->second.address - kRecordedBase);
      in_use_ -= static_cast<std::int64_t>(block->second.size) - 8;
      strategy_->free(block->second.handle, {});
      live_.erase(block);
    }
    return {offset,
            block_size,
            in_use_,
            static_cast<std::int64_t>(strategy_->free_space().largest),
            counter_of(*strategy_, "free_bytes"),
            counter_of(*strategy_, "free_blocks")};
  }

  /// Hash and count of all blocks by address.
  std::pair<std::string, std::size_t> blocks() const {
    std::map<Address, std::pair<Bytes, bool>> blocks;
    for (const auto& [id, block] : live_) blocks[block.address] = {block.size - 8, true};
    for (const AddressRange free : strategy_->free_ranges()) {
      blocks[free.from] = {free.size(), false};
    }
    FnvHash hash;
    for (const auto& [address, block] : blocks) {
      hash.add(address - kRecordedBase);
      hash.add(block.first);
      hash.add(block.second ? 1 : 0);
    }
    return {hash.text(), blocks.size()};
  }

 private:
  SimulatedDevice device_;
  std::unique_ptr<Strategy> strategy_;
  std::map<std::uint64_t, Placement> live_;
  std::int64_t in_use_ = 0;
};

// Reallocation is no request that a trace can make; those runs are left out.
TEST(TlsfAgainstTheOriginal, GivesTheSameRowsInEveryRun) {
  if (!std::filesystem::exists(allocators_corpus())) GTEST_SKIP() << "corpus is not here";
  int compared = 0;
  for (const RecordedRun& run : recorded_runs("tlsf")) {
    if (run.asks('r')) continue;
    SCOPED_TRACE(run.name);
    TlsfRecorder recorder(run.expected["config"]);
    expect_recorded_rows(run, [&](const auto& operation) { return recorder.play(operation); });
    const auto [hash, count] = recorder.blocks();
    EXPECT_EQ(hash, run.expected["hash_final"]);
    EXPECT_EQ(count, run.expected["final_blocks"]);
    if (HasFailure()) return;
    ++compared;
  }
  EXPECT_EQ(compared, 85);
}

TEST(Tlsf, ABlockCarriesItsHeaderAndAPoolTwo) {
  MemoryPicture m("tlsf:pools=[72]");
  m.alloc('A', 24).alloc('B', 24);
  EXPECT_EQ(m.peak_allocated(), 64u);
  m.alloc('C', 1);
  EXPECT_EQ(m.ooms(), 1);
}

TEST(Tlsf, ABlockThatWouldDoIsPassedOverInTheListOfTheRequestItself) {
  // All of the pool is a block of 4,080 bytes, in the list of 4,032 to 4,095.
  MemoryPicture m("tlsf:pools=[4096]");
  m.alloc('A', 4080);
  EXPECT_EQ(m.ooms(), 1);
  m.alloc('B', 4032);
  EXPECT_EQ(m.ooms(), 1);
}

TEST(Tlsf, WithoutPoolsItTakesTheWholeDeviceOrFourGibibytesAtATime) {
  MemoryPicture m("tlsf", 64 * kMiB);
  m.alloc('A', kMiB);
  EXPECT_EQ(m.device().held, 64 * kMiB);
  MemoryPicture endless("tlsf");
  endless.alloc('A', 3 * kGiB).alloc('B', 3 * kGiB).alloc('C', 5 * kGiB);
  EXPECT_EQ(endless.device().allocs, 2u);
  EXPECT_EQ(endless.ooms(), 1);
}

TEST(Tlsf, APoolThatIsNoneIsAUsageError) {
  SimulatedDevice device;
  for (const char* pools : {"[]", "4096", "[39]", "[1GiB;5GiB]", "[1GiB;]", "[x]"}) {
    const std::string spec = fmt::format("tlsf:pools={}", pools);
    EXPECT_THROW(make_strategy(parse_strategy(spec), {.device = device}), UsageError) << spec;
  }
}

struct SlowTlsfShape {
  std::vector<Bytes> pools;
  int log2;
};

/// Every block in one list by address; the list that it would be in is worked out anew each time.
class SlowTlsf final : public SlowModel {
 public:
  SlowTlsf(const SlowTlsfShape& shape, std::optional<Bytes> capacity) : lists_(1 << shape.log2) {
    SlowDevice device{.capacity = capacity};
    for (const Bytes pool : shape.pools) {
      const auto at = device.obtain(pool);
      if (at) blocks_[*at + 8] = {(pool - 16) / 8 * 8, *at, ++time_};
    }
  }

  std::optional<Bytes> allocate(const Request& request) override {
    const Bytes size = std::max<Bytes>(24, (request.size + 7) / 8 * 8);
    Bytes search = size;
    if (request.alignment > 8) {
      search = (size + request.alignment + 32 + request.alignment - 1) / request.alignment *
               request.alignment;
    }
    auto best = blocks_.end();
    for (auto at = blocks_.begin(); at != blocks_.end(); ++at) {
      if (at->second.freed == 0 || floor_of(at->second.size) < search) continue;
      if (best != blocks_.end()) {
        const Bytes list = floor_of(at->second.size), best_list = floor_of(best->second.size);
        if (list > best_list) continue;
        if (list == best_list && at->second.freed < best->second.freed) continue;
      }
      best = at;
    }
    if (best == blocks_.end()) return std::nullopt;
    const auto [from, whole] = *best;
    Bytes at = from;
    if (request.alignment > 8) {
      while (at % request.alignment != 0 || (at != from && at - from < 32)) at += 8;
    }
    const Bytes room = from + whole.size - at;
    if (at != from) blocks_[from] = {at - from - 8, whole.pool, ++time_};
    const bool splits = room >= size + 32;
    blocks_[at] = {splits ? size : room, whole.pool, 0};
    if (splits) blocks_[at + size + 8] = {room - size - 8, whole.pool, ++time_};
    return at;
  }

  void free(Bytes address, const FreeOrigin&) override {
    auto block = blocks_.find(address);
    if (const auto above = std::next(block); joins(block, above)) {
      block->second.size += above->second.size + 8;
      blocks_.erase(above);
    }
    if (block != blocks_.begin()) {
      if (const auto below = std::prev(block); joins(block, below)) {
        below->second.size += block->second.size + 8;
        blocks_.erase(block);
        block = below;
      }
    }
    block->second.freed = ++time_;
  }

 private:
  struct Block {
    Bytes size = 0;
    Bytes pool = 0;
    int freed = 0;  ///< when; 0: in use
  };
  using Blocks = std::map<Bytes, Block>;

  bool joins(Blocks::iterator block, Blocks::iterator other) const {
    return other != blocks_.end() && other->second.freed != 0 &&
           other->second.pool == block->second.pool;
  }

  /// The smallest size of the list that a block of this size is in.
  Bytes floor_of(Bytes size) const {
    if (size < 8 * lists_) return size;
    Bytes doubling = 8 * lists_;
    while (2 * doubling <= size) doubling *= 2;
    const Bytes step = doubling / lists_;
    return size / step * step;
  }

  Bytes lists_;
  Blocks blocks_;
  int time_ = 0;
};

TEST(Tlsf, AgreesWithASlowModelOnRandomTraces) {
  const std::vector<ModelCase<SlowTlsfShape>> cases = {
      {"tlsf:pools=[8000]", {{8000}, 5}, {}},
      {"tlsf:pools=[20000;333;4000],second_level_log2=4", {{20000, 333, 4000}, 4}, {}},
      {"tlsf:pools=[9000;5000],second_level_log2=2", {{9000, 5000}, 2}, {}},
      {"tlsf:pools=[9000;5000;700],second_level_log2=1", {{9000, 5000, 700}, 1}, 10'000}};
  expect_agreement<SlowTlsf>(cases, 10, {});
}

}  // namespace
}  // namespace memreplay
