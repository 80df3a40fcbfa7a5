#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <map>
#include <tuple>

#include "core/error.hpp"
#include "device/simulated_device.hpp"
#include "strategy/allocators_corpus.hpp"
#include "strategy/registry.hpp"
#include "strategy/strategy_against_model.hpp"
#include "support/counter_of.hpp"
#include "support/memory_picture.hpp"

namespace memreplay {
namespace {

/// The strategy as the original's recorder drove it, and the rows that it wrote.
class VmaRecorder {
 public:
  explicit VmaRecorder(const nlohmann::json& config)
      : strategy_(make_strategy(
            parse_strategy(fmt::format("vma:block_size={},strategy={}", config["block_size"].dump(),
                                       config["strategy"].get<std::string>())),
            {.device = device_})) {}

  RecordedRow play(const RecordedOperation& operation) {
    std::int64_t offset = -1;
    std::int64_t size = 0;
    const auto block = live_.find(operation.id);
    if (operation.op == 'a' && operation.size != 0) {
      const auto got =
          strategy_->allocate({.size = operation.size, .alignment = operation.alignment});
      if (got) {
        offset = static_cast<std::int64_t>(got->address - kRecordedBase);
        size = static_cast<std::int64_t>(got->size);
        live_[operation.id] = *got;
        in_use_ += size;
      }
    } else if (operation.op == 'f' && block != live_.end()) {
      offset = static_cast<std::int64_t>(block->second.address - kRecordedBase);
      in_use_ -= static_cast<std::int64_t>(block->second.size);
      strategy_->free(block->second.handle, {});
      live_.erase(block);
    }
    return {offset,
            size,
            in_use_,
            static_cast<std::int64_t>(live_.size()),
            counter_of(*strategy_, "unused_ranges"),
            static_cast<std::int64_t>(strategy_->free_space().largest)};
  }

  /// Hash and count of all ranges by address.
  std::pair<std::string, std::size_t> ranges() const {
    FnvHash hash;
    std::size_t count = 0;
    const MemoryState state = strategy_->memory_state();
    for (const BlockInfo& range : state.segments.at(0).blocks) {
      hash.add(range.address - kRecordedBase);
      hash.add(range.size);
      hash.add(range.state == BlockState::free ? 0 : 1);
      ++count;
    }
    return {hash.text(), count};
  }

 private:
  SimulatedDevice device_;
  std::unique_ptr<Strategy> strategy_;
  std::map<std::uint64_t, Placement> live_;
  std::int64_t in_use_ = 0;
};

TEST(VmaAgainstTheOriginal, GivesTheSameRowsInEveryRun) {
  if (!std::filesystem::exists(allocators_corpus())) GTEST_SKIP() << "corpus is not here";
  int compared = 0;
  for (const RecordedRun& run : recorded_runs("vma-tlsf")) {
    SCOPED_TRACE(run.name);
    VmaRecorder recorder(run.expected["config"]);
    expect_recorded_rows(run, [&](const auto& operation) { return recorder.play(operation); });
    const auto [hash, count] = recorder.ranges();
    EXPECT_EQ(hash, run.expected["hash_final"]);
    EXPECT_EQ(count, run.expected["final_blocks"]);
    if (HasFailure()) return;
    ++compared;
  }
  EXPECT_EQ(compared, 126);
}

TEST(Vma, FreeNeighboursJoinAndTheLastRangeIsTheTail) {
  MemoryPicture m("vma:block_size=8");
  m.alloc('A', 2).alloc('B', 2).alloc('C', 4).free('A').free('B');
  EXPECT_EQ(m.picture(), "....CCCC");
  m.alloc('D', 4).free('C').alloc('E', 3);
  EXPECT_EQ(m.picture(), "DDDDEEE.");
}

TEST(Vma, WithoutASizeTheBlockIsTheWholeDevice) {
  MemoryPicture m("vma", 16);
  m.alloc('A', 16).alloc('B', 1);
  EXPECT_EQ(m.picture(), "AAAAAAAAAAAAAAAA");
  EXPECT_EQ(m.ooms(), 1);
  SimulatedDevice endless;
  EXPECT_THROW(make_strategy(parse_strategy("vma"), {.device = endless}), UsageError);
}

struct SlowVmaShape {
  Bytes size;
  std::string_view choice;
};

/// All ranges by offset; whoever fits gets a key, and the least key is taken.
class SlowVma final : public SlowModel {
 public:
  SlowVma(const SlowVmaShape& shape, std::optional<Bytes>)
      : choice_(shape.choice), size_(shape.size) {}

  std::optional<Bytes> allocate(const Request& request) override {
    const Bytes alignment = std::max<Bytes>(1, request.alignment);
    const auto [own, sure] = first_lists(request.size);
    std::optional<std::tuple<int, int, int>> best_key;
    Bytes best = 0;
    for (const auto& [from, range] : free_ranges()) {
      if (round_up(from, alignment) + request.size > from + range.size) continue;
      const auto key = key_of(from, range, own, sure);
      if (best_key && *best_key < key) continue;
      best_key = key;
      best = from;
    }
    if (!best_key) return std::nullopt;
    const Range whole = free_ranges().at(best);
    const Bytes at = round_up(best, alignment);
    const Bytes end = best + whole.size;
    freed_.erase(best);
    if (at != best) freed_[best] = ++time_;
    if (at + request.size < end) freed_[at + request.size] = ++time_;
    used_[at] = request.size;
    return at;
  }

  void free(Bytes address, const FreeOrigin&) override {
    used_.erase(address);
    // Free neighbours are one range from now on, and this the time at which it came.
    for (const auto& [from, range] : free_ranges()) {
      if (from > address || address >= from + range.size) continue;
      freed_.erase(freed_.lower_bound(from), freed_.lower_bound(from + range.size));
      freed_[from] = ++time_;
    }
  }

 private:
  struct Range {
    Bytes size = 0;
    int freed = 0;
    bool tail = false;
  };

  static int list_of(Bytes size) {
    if (size <= 256) return static_cast<int>((size - 1) / 8);
    int list = 32;
    for (Bytes doubling = 256;; doubling *= 2, list += 32) {
      if (size < 2 * doubling) return list + static_cast<int>((size - doubling) * 32 / doubling);
    }
  }

  /// What the blocks in use leave.
  std::map<Bytes, Range> free_ranges() const {
    std::map<Bytes, Range> ranges;
    Bytes from = 0;
    const auto add = [&](Bytes to, bool tail) {
      const auto freed = freed_.find(from);
      if (from < to) ranges[from] = {to - from, freed == freed_.end() ? 0 : freed->second, tail};
    };
    for (const auto& [at, size] : used_) {
      add(at, false);
      from = at + size;
    }
    add(size_, true);
    return ranges;
  }

  /// The first list that holds a range, from that of the size on and from the next on.
  std::pair<int, int> first_lists(Bytes size) const {
    int own = INT_MAX, sure = INT_MAX;
    for (const auto& [from, range] : free_ranges()) {
      const int list = list_of(range.size);
      if (range.tail || list < list_of(size)) continue;
      own = std::min(own, list);
      if (list > list_of(size)) sure = std::min(sure, list);
    }
    return {own, sure};
  }

  bool is_newest(Bytes at, int list) const {
    const auto ranges = free_ranges();
    return std::none_of(ranges.begin(), ranges.end(), [&](const auto& other) {
      return !other.second.tail && list_of(other.second.size) == list &&
             other.second.freed > ranges.at(at).freed;
    });
  }

  std::tuple<int, int, int> key_of(Bytes from, const Range& range, int own, int sure) const {
    if (choice_ == "min_offset") return {0, static_cast<int>(from), 0};
    const int list = list_of(range.size);
    const int age = -range.freed;
    if (range.tail) return {2, 0, 0};
    if (choice_ == "min_memory" && list == own) return {1, 0, age};
    if (choice_ == "default" && list == sure) return {1, 0, age};
    if (choice_ == "min_time" && list == sure && is_newest(from, list)) return {1, 0, 0};
    if (list == sure) return {3, 0, age};
    return list == own ? std::tuple{4, 0, age} : std::tuple{5, list, age};
  }

  std::string_view choice_;
  Bytes size_;
  std::map<Bytes, Bytes> used_;
  std::map<Bytes, int> freed_;  ///< when the free range that begins here came to be
  int time_ = 0;
};

TEST(Vma, AgreesWithASlowModelOnRandomTraces) {
  const std::vector<ModelCase<SlowVmaShape>> cases = {
      {"vma:block_size=9000", {9000, "default"}, {}},
      {"vma:block_size=9000,strategy=min_memory", {9000, "min_memory"}, {}},
      {"vma:block_size=7000,strategy=min_time", {7000, "min_time"}, {}},
      {"vma:block_size=9000,strategy=min_offset", {9000, "min_offset"}, {}}};
  expect_agreement<SlowVma>(cases, 5, {});
}

}  // namespace
}  // namespace memreplay
