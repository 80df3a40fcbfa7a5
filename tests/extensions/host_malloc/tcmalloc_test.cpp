#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/error.hpp"
#include "strategy/places_add_up.hpp"
#include "strategy/registry.hpp"
#include "strategy/strategy_against_model.hpp"
#include "support/counter_of.hpp"
#include "support/memory_picture.hpp"
#include "support/slow_pages.hpp"

namespace memreplay {
namespace {

/// Letters are 16 bytes each, pages eight of them; two objects move at once.
constexpr const char* kSmall = "tcmalloc:q=16,page=128,max_small=64,grow=256,batch=16";

TEST(Tcmalloc, ASpanIsCarvedFromItsStart) {
  MemoryPicture m(kSmall, std::nullopt, 16);
  m.alloc('A', 1).alloc('B', 1).alloc('C', 2);
  EXPECT_EQ(m.picture(), "AB......CC......");
}

TEST(Tcmalloc, WhatAThreadFreedLastServesItFirst) {
  MemoryPicture m(kSmall, std::nullopt, 16);
  m.alloc('A', 1).alloc('B', 1).alloc('C', 1).free('A').free('B').alloc('D', 1).alloc('E', 1);
  EXPECT_EQ(m.picture(), "EDC.............");
}

TEST(Tcmalloc, AListFetchesMoreEachTimeItIsEmpty) {
  MemoryPicture m("tcmalloc:q=16,page=128,max_small=64,grow=256,batch=64", std::nullopt, 16);
  m.alloc('A', 1);
  EXPECT_EQ(m.counter("thread_cache_bytes"), 0);
  m.alloc('B', 1);
  EXPECT_EQ(m.counter("thread_cache_bytes"), 16);
  m.alloc('C', 1).alloc('D', 1);
  EXPECT_EQ(m.counter("thread_cache_bytes"), 32);
  EXPECT_EQ(m.picture(), "ABCD............");
}

TEST(Tcmalloc, AListThatIsTooLongGivesABatchToTheTransferCache) {
  MemoryPicture m(std::string(kSmall) + ",list_cap=2", std::nullopt, 16);
  m.alloc('A', 1).alloc('B', 1).alloc('C', 1).free('A').free('B').free('C');
  EXPECT_EQ(m.counter("thread_cache_bytes"), 16);
  EXPECT_EQ(m.counter("transfer_cache_bytes"), 32);
  m.alloc('D', 1).alloc('E', 1);
  EXPECT_EQ(m.picture(), "DE..............");
}

TEST(Tcmalloc, LargeBlocksAreWholePagesAndTheSmallestRangeServes) {
  MemoryPicture m("tcmalloc:q=1,page=1,max_small=1,grow=16");
  m.alloc('A', 4).alloc('B', 2).alloc('C', 3).alloc('D', 7).free('A').free('C').alloc('E', 2);
  EXPECT_EQ(m.picture(), "....BBEE.DDDDDDD");
}

TEST(Tcmalloc, EmptyCacheEmptiesEveryCache) {
  MemoryPicture m(kSmall, std::nullopt, 16);
  m.alloc('A', 1).alloc('B', 8).alloc('C', 4).free('A').free('C').empty_cache();
  EXPECT_EQ(m.picture(), "........BBBBBBBB");
  m.free('B').empty_cache();
  EXPECT_EQ(m.picture(), "");
}

TEST(Tcmalloc, ARefusedRegionIsFollowedByOneOfTheSizeNeeded) {
  MemoryPicture m("tcmalloc:q=1,page=1,max_small=1,grow=16", 20);
  m.alloc('A', 16).alloc('B', 3);
  EXPECT_EQ(m.picture(), "AAAAAAAAAAAAAAAA|BBB");
  EXPECT_EQ(m.strategy().usage().oom_retries, 1u);
}

TEST(Tcmalloc, WhatOneThreadAsksForAndAnotherFreesDriftsToTheOther) {
  SimulatedDevice device;
  const auto strategy = make_strategy(parse_strategy("tcmalloc"), {.device = device});
  const auto a = strategy->allocate({.size = 1000, .thread = 1});
  strategy->free(a->handle, {0, 2});
  EXPECT_NE(strategy->allocate({.size = 1000, .thread = 1})->address, a->address);
  EXPECT_EQ(strategy->allocate({.size = 1000, .thread = 2})->address, a->address);
}

TEST(Tcmalloc, WithoutThreadsStreamsHaveTheCaches) {
  SimulatedDevice device;
  const auto strategy = make_strategy(parse_strategy("tcmalloc"), {.device = device});
  strategy->allocate({.size = 1000, .stream = 1});
  strategy->allocate({.size = 1000, .stream = 2});
  EXPECT_EQ(counter_of(*strategy, "thread_caches"), 2);
}

TEST(Tcmalloc, BytesByPlaceAddUpToWhatIsHeld) {
  SimulatedDevice device;
  const auto strategy = make_strategy(parse_strategy("tcmalloc"), {.device = device});
  expect_places_add_up(*strategy, device, 20000, 14,
                       {"thread_cache_bytes", "transfer_cache_bytes", "central_bytes",
                        "page_heap_bytes", "span_slack_bytes"});
  EXPECT_GT(counter_of(*strategy, "scavenges"), 0);
}

TEST(Tcmalloc, OptionsThatMeanNothingAreRefused) {
  EXPECT_THROW(MemoryPicture("tcmalloc:page=0"), UsageError);
  EXPECT_THROW(MemoryPicture("tcmalloc:cache_min=8MiB"), UsageError);
  EXPECT_THROW(MemoryPicture("tcmalloc:steal=0"), UsageError);
}

struct Shape {
  Bytes q, page, max_small, batch, cache_min, cache_max, overall, steal, grow;
  std::size_t list_cap = 8192, overages = 3, transfer = 16;
};

/// The places of the original, each a plain list of addresses.
class SlowTcmalloc final : public SlowModel {
 public:
  SlowTcmalloc(const Shape& shape, std::optional<Bytes> capacity)
      : s_(shape),
        pages_{{.capacity = capacity}, shape.page},
        unclaimed_(static_cast<double>(shape.overall)) {}

  std::optional<Bytes> allocate(const Request& request) override {
    Bytes size = class_of(request.size);
    while (size <= s_.max_small && size % request.alignment != 0) size = class_of(size + 1);
    if (size > s_.max_small || request.alignment > s_.page) {
      size = round_up(request.size, s_.page);
      const auto at = pages_.take(size, request.alignment, s_.grow);
      if (at) live_.push_back({*at, size, false});
      return at;
    }
    Thread& thread = thread_of({request.stream, request.thread});
    List& list = thread.lists[size];
    if (list.objects.empty()) {
      const std::size_t batch = batch_of(size);
      for (std::size_t n = std::min(list.max_length, batch); n > 0; --n) {
        auto& transfer = transfer_[size];
        std::optional<Bytes> object;
        if (!transfer.empty()) {
          object = transfer.back();
          transfer.pop_back();
        } else {
          object = from_central(size);
        }
        if (!object) break;
        list.objects.insert(list.objects.begin(), *object);
      }
      if (list.objects.empty()) return std::nullopt;
      if (list.max_length < batch) {
        ++list.max_length;
      } else if (list.max_length < s_.list_cap) {
        list.max_length = std::min(list.max_length + batch, s_.list_cap);
      }
    }
    live_.push_back({pop(list), size, true});
    return live_.back().address;
  }

  void free(Bytes address, const FreeOrigin& giver) override {
    const auto at = std::find_if(live_.begin(), live_.end(),
                                 [&](const Block& b) { return b.address == address; });
    const Block block = *at;
    live_.erase(at);
    if (!block.small) return pages_.put(block.address, block.size);
    Thread& thread = thread_of(giver);
    List& list = thread.lists[block.size];
    list.objects.push_back(block.address);
    if (list.objects.size() > list.max_length) {
      const std::size_t batch = batch_of(block.size);
      give_up(list, block.size, batch);
      if (list.max_length < batch) {
        ++list.max_length;
      } else if (list.max_length > batch && ++list.overages > s_.overages) {
        list.max_length -= batch;
        list.overages = 0;
      }
    }
    if (bytes_of(thread) >= thread.limit) scavenge(thread);
  }

  void empty_cache() override {
    for (Thread& thread : threads_) {
      for (auto& [size, list] : thread.lists) {
        for (const Bytes object : list.objects) to_central(object, size);
        list.objects.clear();
        list.low = 0;
      }
    }
    for (auto& [size, objects] : transfer_) {
      for (const Bytes object : objects) to_central(object, size);
      objects.clear();
    }
    pages_.return_idle();
  }

  std::optional<Bytes> reserved() const override { return pages_.device.held; }

 private:
  struct Block {
    Bytes address;
    Bytes size;
    bool small;
  };
  struct List {
    std::vector<Bytes> objects;
    std::size_t max_length = 1, low = 0, overages = 0;
  };
  struct Thread {
    FreeOrigin who;
    Bytes limit;
    std::map<Bytes, List> lists = {};  ///< by size of the class
  };
  struct Span {
    Bytes address, bytes, size;
    std::vector<Bytes> free = {};
  };

  Bytes class_of(Bytes r) const {
    if (r <= 8 * s_.q) return round_up(r, s_.q);
    Bytes power = 1;
    while (power < r) power *= 2;
    return round_up(r, power / 8);
  }
  std::size_t batch_of(Bytes size) const {
    return std::clamp<std::size_t>(s_.batch / size, 2, 128);
  }
  Thread& thread_of(const FreeOrigin& giver) {
    for (Thread& thread : threads_) {
      if (thread.who.stream == giver.stream && thread.who.thread == giver.thread) return thread;
    }
    unclaimed_ -= static_cast<double>(s_.cache_min);
    return threads_.emplace_back(Thread{giver, s_.cache_min});
  }
  static Bytes bytes_of(const Thread& thread) {
    Bytes bytes = 0;
    for (const auto& [size, list] : thread.lists) bytes += size * list.objects.size();
    return bytes;
  }
  static Bytes pop(List& list) {
    const Bytes object = list.objects.back();
    list.objects.pop_back();
    list.low = std::min(list.low, list.objects.size());
    return object;
  }

  void give_up(List& list, Bytes size, std::size_t count) {
    while (count-- > 0 && !list.objects.empty()) {
      const Bytes object = pop(list);
      if (transfer_[size].size() < s_.transfer * batch_of(size)) {
        transfer_[size].push_back(object);
      } else {
        to_central(object, size);
      }
    }
  }

  void scavenge(Thread& thread) {
    for (auto& [size, list] : thread.lists) {
      if (list.low > 0) {
        give_up(list, size, std::max<std::size_t>(1, list.low / 2));
        const std::size_t batch = batch_of(size);
        if (list.max_length > batch) {
          list.max_length = list.max_length < 2 * batch ? batch : list.max_length - batch;
        }
      }
      list.low = list.objects.size();
    }
    if (thread.limit + s_.steal > s_.cache_max) return;
    if (unclaimed_ > 0) {
      unclaimed_ -= static_cast<double>(s_.steal);
      thread.limit += s_.steal;
      return;
    }
    for (int tries = 0; tries < 10; ++tries) {
      next_ = (next_ + 1) % threads_.size();
      Thread& victim = threads_[next_];
      if (&victim == &thread || victim.limit < s_.cache_min + s_.steal) continue;
      victim.limit -= s_.steal;
      thread.limit += s_.steal;
      return;
    }
  }

  std::optional<Bytes> from_central(Bytes size) {
    Span* lowest = nullptr;
    for (Span& span : spans_) {
      if (span.size != size || span.free.empty()) continue;
      if (!lowest || span.address < lowest->address) lowest = &span;
    }
    if (!lowest) {
      Bytes bytes = s_.page;
      while (bytes < size || bytes % size > bytes / 8) bytes += s_.page;
      const auto at = pages_.take(bytes, 1, s_.grow);
      if (!at) return std::nullopt;
      spans_.push_back({*at, bytes, size});
      lowest = &spans_.back();
      for (Bytes i = 0; i < bytes / size; ++i) lowest->free.push_back(*at + i * size);
    }
    const auto object = std::min_element(lowest->free.begin(), lowest->free.end());
    const Bytes address = *object;
    lowest->free.erase(object);
    return address;
  }

  void to_central(Bytes object, Bytes size) {
    const auto span = std::find_if(spans_.begin(), spans_.end(), [&](const Span& s) {
      return s.address <= object && object < s.address + s.bytes;
    });
    span->free.push_back(object);
    if (span->free.size() < span->bytes / size) return;
    pages_.put(span->address, span->bytes);
    spans_.erase(span);
  }

  Shape s_;
  SlowPages pages_;
  double unclaimed_;
  std::size_t next_ = 0;
  std::vector<Thread> threads_;
  std::map<Bytes, std::vector<Bytes>> transfer_;
  std::vector<Span> spans_;
  std::vector<Block> live_;
};

TEST(Tcmalloc, AgreesWithASlowModelOnRandomTraces) {
  const std::vector<ModelCase<Shape>> cases = {
      {"tcmalloc:q=4,page=64,max_small=256,batch=64,cache_min=512,cache_max=4096,overall=4096,"
       "steal=64,grow=1024",
       {4, 64, 256, 64, 512, 4096, 4096, 64, 1024},
       {}},
      {"tcmalloc:q=16,page=128,max_small=512,batch=256,cache_min=256,cache_max=512,overall=1024,"
       "steal=128,grow=2048,transfer=1,overages=1",
       {16, 128, 512, 256, 256, 512, 1024, 128, 2048, 8192, 1, 1},
       {}},
      {"tcmalloc:q=64,page=128,max_small=512,batch=64,cache_min=1024,cache_max=4096,overall=0,"
       "steal=64,grow=2048,transfer=0,list_cap=5",
       {64, 128, 512, 64, 1024, 4096, 0, 64, 2048, 5, 3, 0},
       25000},
      {"tcmalloc:q=128,page=256,max_small=512,batch=128,cache_min=512,cache_max=2048,"
       "overall=3000,steal=256,grow=4096",
       {128, 256, 512, 128, 512, 2048, 3000, 256, 4096},
       20000},
  };
  expect_agreement<SlowTcmalloc>(
      cases, 9, {.streams = 2, .threads = 2, .strange_givers = true, .empty_caches = true});
}

}  // namespace
}  // namespace memreplay
