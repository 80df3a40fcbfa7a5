#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <random>
#include <string>
#include <vector>

#include "device/simulated_device.hpp"
#include "strategy/bfc/allocator.hpp"

// BFC once more, as plainly as it can be written from its description: one list of chunks by
// address, every search through all of them.

namespace memreplay::bfc {
namespace {

constexpr Address kBase = Address{1} << 44;

struct SlowChunk {
  Address address = 0;
  Bytes size = 0;
  Bytes region = 0;  ///< where its region starts
  bool in_use = false;
  std::uint64_t freed_at = 0;
  Tag tag = Tag::lower;
};
using Place = std::list<SlowChunk>::iterator;

class Slow {
 public:
  Slow(const Options& options, std::optional<Bytes> capacity, Bytes gap)
      : o_(options), capacity_(capacity), gap_(gap) {
    next_region_ = rounded(o_.allow_growth ? std::min(o_.limit, o_.first_region) : o_.limit);
  }

  std::optional<SlowChunk> allocate(const Request& request) {
    const Bytes size = rounded(request.size);
    sweep();
    Place found = search(request, size);
    if (found == chunks_.end() && extend(size)) found = search(request, size);
    if (found == chunks_.end() && request.freed_before == 0 && !queue_.empty() && force(size)) {
      found = search(request, size);
    }
    if (found == chunks_.end() && o_.garbage_collection && collect(size) && extend(size)) {
      found = search(request, size);
    }
    if (found == chunks_.end()) return std::nullopt;
    return *found;
  }

  void free(Address address) {
    const Place chunk = at(address);
    chunk->in_use = false;
    if (o_.timestamped) {
      chunk->freed_at = ++count_;
      queue_.push_back(address);
      return;
    }
    tag_freed(chunk);
    merge(chunk, false);
  }

  void safe_frontier(std::uint64_t count) { frontier_ = std::max(frontier_, count); }
  Bytes held() const { return pool_; }
  Bytes next_region() const { return next_region_; }
  Bytes largest_free() const {
    Bytes largest = 0;
    for (const SlowChunk& c : chunks_) largest = std::max(largest, c.in_use ? 0 : c.size);
    return largest;
  }

 private:
  Place at(Address address) {
    return std::find_if(chunks_.begin(), chunks_.end(),
                        [&](const SlowChunk& c) { return c.address == address; });
  }
  bool splits(Bytes chunk, Bytes size) const {
    const Bytes threshold =
        o_.fragmentation_fraction > 0
            ? static_cast<Bytes>(o_.fragmentation_fraction * static_cast<double>(o_.limit))
            : 128 * kMiB;
    return chunk >= 2 * size || chunk - size >= threshold;
  }

  Place search(const Request& request, Bytes size) {
    const Bytes align = std::max<Bytes>(256, request.alignment);
    const bool upper = o_.spatial && request.upper_end;
    const Tag end = upper ? Tag::upper : Tag::lower;
    const EndPolicy& policy = upper ? o_.upper : o_.lower;
    const auto fits = [&](const SlowChunk& c) {
      if (c.in_use || c.size < size) return false;
      if (request.freed_before > 0 && request.freed_before < c.freed_at) return false;
      if (upper) return (c.address + c.size - size) / align * align >= c.address;
      return round_up(c.address, align) + size <= c.address + c.size;
    };
    Place best = chunks_.end();
    for (Place c = chunks_.begin(); c != chunks_.end(); ++c) {
      if (c->tag != end || !fits(*c)) continue;
      const bool better = best == chunks_.end() || c->size < best->size ||
                          (c->size == best->size && policy.descending);
      if (better) best = c;
    }
    for (Place c = chunks_.begin(); best == chunks_.end() && c != chunks_.end(); ++c) {
      if (c->tag == Tag::central_gap && fits(*c)) best = c;
    }
    if (best == chunks_.end()) return best;
    return cut(best, size, align, end, best->tag == Tag::central_gap || policy.exact);
  }

  Place cut(Place c, Bytes size, Bytes align, Tag end, bool exact) {
    const Tag source = c->tag;
    const Bytes pad = round_up(c->address, align) - c->address;
    Address start = c->address + pad;
    if (end == Tag::upper && (exact || splits(c->size - pad, size))) {
      start = (c->address + c->size - size) / align * align;
    }
    if (start > c->address) {
      SlowChunk below = *c;
      below.size = start - c->address;
      below.tag = end == Tag::upper ? source : Tag::lower;
      chunks_.insert(c, below);
      c->size -= below.size;
      c->address = start;
    }
    if (c->size > size && (exact || splits(c->size, size))) {
      SlowChunk above = *c;
      above.address += size;
      above.size -= size;
      above.tag = end == Tag::upper ? Tag::upper : source;
      chunks_.insert(std::next(c), above);
      c->size = size;
    }
    c->in_use = true;
    c->tag = end;
    return c;
  }

  bool joined(const SlowChunk& lower, const SlowChunk& upper) const {
    return lower.region == upper.region;
  }
  void tag_freed(Place c) {
    if (!o_.spatial || c->tag == Tag::central_gap) return;
    const bool lower = c->tag == Tag::lower;
    const bool exists = lower ? std::next(c) != chunks_.end() : c != chunks_.begin();
    if (!exists || (lower ? std::next(c) : std::prev(c))->tag != c->tag) c->tag = Tag::central_gap;
  }
  Place merge(Place c, bool ignore_stamps) {
    const auto may = [&](const SlowChunk& other) {
      return !other.in_use && (ignore_stamps || other.freed_at == 0);
    };
    const auto swallow = [&](Place lower, Place upper) {
      lower->size += upper->size;
      lower->freed_at = std::max(lower->freed_at, upper->freed_at);
      if (lower->tag != upper->tag) lower->tag = Tag::central_gap;
      chunks_.erase(upper);
    };
    if (!may(*c)) return c;
    const Place above = std::next(c);
    if (above != chunks_.end() && joined(*c, *above) && may(*above)) swallow(c, above);
    if (c == chunks_.begin()) return c;
    const Place below = std::prev(c);
    if (!joined(*below, *c) || !may(*below)) return c;
    swallow(below, c);
    return below;
  }

  bool obtain(Bytes bytes) {
    if (capacity_ && pool_ + bytes > *capacity_) return false;
    return true;
  }
  bool extend(Bytes size) {
    const Bytes available = (o_.limit - pool_) / 256 * 256;
    if (size > available) return false;
    bool raised = false;
    for (; size > next_region_; raised = true) next_region_ *= 2;
    Bytes bytes = std::min(next_region_, available);
    while (!obtain(bytes)) {
      const Bytes less = rounded(static_cast<Bytes>(static_cast<float>(bytes) * 0.9f));
      bytes = less < bytes ? less : bytes - 256;
      if (bytes < size) return false;
    }
    if (!raised) next_region_ *= 2;
    pool_ += bytes;
    SlowChunk fresh{.address = next_address_, .size = bytes, .region = next_address_};
    next_address_ += bytes + gap_;
    if (o_.spatial) fresh.tag = Tag::central_gap;
    if (o_.coalesce_regions && !chunks_.empty() &&
        chunks_.back().address + chunks_.back().size == fresh.address) {
      fresh.region = chunks_.back().region;
    }
    chunks_.push_back(fresh);
    merge(std::prev(chunks_.end()), false);
    return true;
  }

  bool collect(Bytes size) {
    std::vector<Bytes> unused;
    Bytes sum = 0;
    for (const SlowChunk& c : chunks_) {
      if (c.address != c.region) continue;
      Bytes bytes = 0;
      bool used = false;
      for (const SlowChunk& other : chunks_) {
        if (other.region != c.region) continue;
        bytes += other.size;
        used |= other.in_use;
      }
      if (used) continue;
      unused.push_back(c.region);
      sum += bytes;
    }
    if (sum == 0 || size > o_.limit - pool_ + sum) return false;
    std::erase_if(chunks_, [&](const SlowChunk& c) {
      return std::find(unused.begin(), unused.end(), c.region) != unused.end();
    });
    pool_ -= sum;
    return true;
  }

  /// The entries to be merged; with `all` those too that are not safe yet.
  std::vector<Address> dequeue(bool all) {
    std::vector<Address> merging;
    std::vector<Address> staying;
    for (const Address address : queue_) {
      const Place c = at(address);
      if (c == chunks_.end() || c->in_use || c->tag == Tag::central_gap) continue;
      if (c->freed_at < frontier_) c->freed_at = 0;
      (all || c->freed_at == 0 ? merging : staying).push_back(address);
    }
    queue_ = staying;
    return merging;
  }
  void sweep() {
    for (const Address address : dequeue(false)) {
      const Place c = at(address);
      if (c == chunks_.end()) continue;
      tag_freed(c);
      merge(c, false);
    }
  }
  bool force(Bytes size) {
    bool satisfied = false;
    for (const Address address : dequeue(true)) {
      if (satisfied) {
        queue_.push_back(address);
        continue;
      }
      const Place c = at(address);
      if (c == chunks_.end()) continue;
      tag_freed(c);
      const Place merged = merge(c, true);
      if (merged->address != address && merged->freed_at > 0) queue_.push_back(merged->address);
      satisfied = merged->size >= size;
    }
    return satisfied;
  }

  Options o_;
  std::optional<Bytes> capacity_;
  Bytes gap_;
  std::list<SlowChunk> chunks_;
  std::vector<Address> queue_;
  std::uint64_t count_ = 0;
  std::uint64_t frontier_ = 0;
  Bytes next_region_ = 0;
  Bytes pool_ = 0;
  Address next_address_ = kBase;
};

struct Case {
  const char* name;
  Options options;
  std::optional<Bytes> capacity = {};
  Bytes gap = 0;
  Bytes largest = 60000;
};

std::vector<Case> cases() {
  return {
      {"Preallocated", {.limit = 2'000'100, .allow_growth = false}},
      {"Growing", {.limit = 3'000'000, .first_region = 4096}},
      {"GrowingWithGaps", {.limit = 3'000'000, .first_region = 4096}, {}, 4096},
      {"GrowingOnASmallDevice", {.limit = 6'000'000, .first_region = 4096}, 2'500'000},
      {"PreallocatingOnASmallDevice", {.limit = 4'000'000, .allow_growth = false}, 2'345'678},
      {"Collecting", {.limit = 1'500'000, .garbage_collection = true, .first_region = 4096}},
      {"CollectingOnASmallDevice",
       {.limit = 6'000'000, .garbage_collection = true, .first_region = 4096},
       1'500'000},
      {"SmallThreshold",
       {.limit = 2'000'000, .allow_growth = false, .fragmentation_fraction = 0.002}},
      {"JoinedRegions",
       {.limit = 2'500'000,
        .garbage_collection = true,
        .coalesce_regions = true,
        .first_region = 4096}},
      {"Timestamped", {.limit = 2'000'000, .timestamped = true, .first_region = 65536}},
      {"TimestampedCollectingJoined",
       {.limit = 2'000'000,
        .garbage_collection = true,
        .coalesce_regions = true,
        .timestamped = true,
        .first_region = 4096}},
      {"TwoEnds", {.limit = 2'000'000, .allow_growth = false, .spatial = true}},
      {"TwoEndsExactAndDescending",
       {.limit = 2'000'000,
        .allow_growth = false,
        .spatial = true,
        .lower = {.descending = true, .exact = true},
        .upper = {.descending = true}}},
      {"TwoEndsOfATinyPool",
       {.limit = 96 * 256,
        .allow_growth = false,
        .spatial = true,
        .upper = {.descending = true, .exact = true}},
       {},
       0,
       2500},
  };
}

class BfcAgainstAReference : public testing::TestWithParam<std::size_t> {};

void play(const Case& tested, std::uint64_t seed, int steps) {
  SimulatedDevice device(
      {.capacity = tested.capacity, .granularity = 1, .address_gap = tested.gap});
  Allocator fast(device, tested.options);
  Slow slow(tested.options, tested.capacity, tested.gap);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(0, std::log2(tested.largest));
  std::vector<Placement> live;
  Bytes in_use = 0;
  std::uint64_t frees = 0;
  for (int step = 0; step < steps; ++step) {
    const auto dice = random() % 100;
    if (dice < 3 && tested.options.timestamped) {
      const std::uint64_t frontier = frees - std::min<std::uint64_t>(frees, random() % 40) + 1;
      fast.safe_frontier(frontier);
      slow.safe_frontier(frontier);
    } else if (dice < 55 || live.empty()) {
      Request request{.size = static_cast<Bytes>(std::exp2(exponent(random)))};
      if (random() % 8 == 0) request.alignment = Bytes{64} << random() % 9;
      if (random() % 16 == 0) request.freed_before = 1 + random() % (frees + 1);
      request.upper_end = random() % 2;
      const auto got = fast.allocate(request);
      const auto expected = slow.allocate(request);
      ASSERT_EQ(got.has_value(), expected.has_value()) << "step " << step;
      if (got) {
        ASSERT_EQ(got->address, expected->address) << "step " << step;
        ASSERT_EQ(got->size, expected->size) << "step " << step;
        in_use += got->size;
        live.push_back(*got);
      }
    } else {
      const std::size_t victim = random() % live.size();
      fast.free(live[victim].handle, {});
      slow.free(live[victim].address);
      in_use -= live[victim].size;
      live[victim] = live.back();
      live.pop_back();
      ++frees;
    }
    ASSERT_EQ(fast.statistics().bytes_in_use, in_use);
    ASSERT_EQ(device.usage().held, slow.held()) << "step " << step;
    ASSERT_EQ(fast.largest_free(), slow.largest_free()) << "step " << step;
    ASSERT_EQ(fast.next_region(), slow.next_region()) << "step " << step;
  }
}

TEST_P(BfcAgainstAReference, GivesTheSameChunks) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    SCOPED_TRACE(seed);
    play(cases()[GetParam()], seed, 3000);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Options, BfcAgainstAReference,
                         testing::Range(std::size_t{0}, cases().size()), [](const auto& tested) {
                           return std::string(cases()[tested.param].name);
                         });

}  // namespace
}  // namespace memreplay::bfc
