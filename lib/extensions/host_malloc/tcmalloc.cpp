#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "extensions/host_malloc/actors.hpp"
#include "extensions/host_malloc/page_heap.hpp"
#include "extensions/host_malloc/size_classes.hpp"
#include "extensions/host_malloc/slots.hpp"
#include "strategy/parts/handle_table.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

constexpr std::uint32_t kNoSpan = UINT32_MAX;
constexpr int kStealTries = 10;

struct TcmallocOptions {
  Bytes q = 512;
  Bytes page = 8 * kKiB;
  Bytes max_small = 256 * kKiB;
  Bytes batch = 64 * kKiB;  ///< bytes that move at once
  Bytes cache_min = 512 * kKiB;
  Bytes cache_max = 4 * kMiB;
  Bytes overall = 32 * kMiB;
  Bytes steal = 64 * kKiB;
  Bytes grow = 32 * kMiB;
  std::uint64_t list_cap = 8192;
  std::uint64_t overages = 3;
  std::uint64_t transfer = 16;  ///< batches
};

struct Object {
  std::uint32_t span = kNoSpan;
  std::uint32_t slot = 0;
};

struct TcmallocBlock : PlacedBlock {
  Object object;             ///< no span: whole pages
  Handle range = kNoHandle;  ///< the whole pages
  FreeOrigin owner;          ///< who asked for it
};

struct Span {
  Handle range = kNoHandle;  ///< none: the number is not in use
  Address address = 0;
  std::uint32_t size_class = 0;
  Slots slots;  ///< a free one is in the central list
};

/// Free objects of a class; the last is taken first.
struct ObjectList {
  std::vector<Object> objects;
  std::uint64_t max_length = 1;
  std::uint64_t low_water = 0;
  std::uint64_t overages = 0;

  Object pop() {
    const Object object = objects.back();
    objects.pop_back();
    low_water = std::min<std::uint64_t>(low_water, objects.size());
    return object;
  }
};

struct ThreadCache {
  std::vector<ObjectList> lists;  ///< by class
  Bytes bytes = 0;
  Bytes limit = 0;
};

/// An allocation or a free costs O(1), now and then a batch; cleaning a cache up O(classes).
class Tcmalloc final : public StrategyOn<Tcmalloc>, private Prefetch {
 public:
  Tcmalloc(const TcmallocOptions& options, DeviceModel& device)
      : StrategyOn(device),
        options_(options),
        classes_(options.q, 2),
        transfer_(classes_.number(options.max_small) + 1),
        sizes_(transfer_.size()),
        pages_(options.page),
        unclaimed_(static_cast<std::int64_t>(options.overall)) {}

  std::optional<Placement> allocate(const Request& request) override {
    const Bytes alignment = std::max<Bytes>(request.alignment, 1);
    Bytes size = classes_.rounded(request.size);
    if (request.size <= options_.max_small && alignment <= options_.page) {
      while (size <= options_.max_small && size % alignment != 0) size = classes_.rounded(size + 1);
      if (size <= options_.max_small) return allocate_small(request, size);
    }
    return allocate_pages(request, round_up(request.size, options_.page), alignment);
  }

  void free(Handle handle, FreeOrigin giver) override {
    const TcmallocBlock block = blocks_.remove(handle);
    live_bytes_ -= block.size;
    if (block.object.span == kNoSpan) {
      pages_.put(block.range);
      return;
    }
    giver = giver.or_owner(block.owner);
    const std::uint32_t actor = actors_.number(giver.stream, giver.thread);
    ThreadCache& cache = cache_of(actor);
    const std::uint32_t size_class = classes_.number(block.size);
    ObjectList& list = cache.lists[size_class];
    list.objects.push_back(block.object);
    cache.bytes += block.size;
    if (list.objects.size() > list.max_length) list_too_long(cache, size_class);
    if (cache.bytes >= cache.limit) scavenge(actor);
  }

  /// Thread and transfer caches too.
  void empty_cache() override {
    for (ThreadCache& cache : caches_) {
      for (ObjectList& list : cache.lists) put_all(list.objects);
      for (ObjectList& list : cache.lists) list.low_water = 0;
      cache.bytes = 0;
    }
    for (std::vector<Object>& objects : transfer_) put_all(objects);
    pages_.give_back_idle_regions(*device_);
  }

  Abilities abilities() override { return {.prefetch = this}; }
  void prefetch(Handle block) const override { blocks_.prefetch(block); }

  FreeSpace free_space() const override {
    Bytes largest = pages_.largest_free();
    if (largest == 0) {
      for (const Span& span : spans_) {
        if (span.range != kNoHandle && !span.slots.full()) {
          largest = std::max(largest, sizes_[span.size_class]);
        }
      }
    }
    return {.total = pages_.held() - live_bytes_, .largest = largest};
  }

  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges;
    pages_.add_free_ranges(ranges);
    for (const Span& span : spans_) {
      if (span.range == kNoHandle) continue;
      span.slots.add_free_ranges(span.address, sizes_[span.size_class], ranges);
    }
    const auto add = [&](const std::vector<Object>& objects) {
      for (const Object object : objects) {
        const Address from = address_of(object);
        ranges.push_back({from, from + sizes_[spans_[object.span].size_class]});
      }
    };
    for (const ThreadCache& cache : caches_) {
      for (const ObjectList& list : cache.lists) add(list.objects);
    }
    for (const std::vector<Object>& objects : transfer_) add(objects);
    return ranges;
  }

  StrategyUsage usage() const override { return usage_; }

  /// Bytes by the place where they lie; with the live ones they add up to what is held in pages.
  Testimony testimony() const override {
    Bytes thread = 0;
    Bytes transfer = 0;
    Bytes central = 0;
    Bytes slack = 0;
    for (const ThreadCache& cache : caches_) thread += cache.bytes;
    for (std::size_t number = 0; number < transfer_.size(); ++number) {
      transfer += transfer_[number].size() * sizes_[number];
    }
    for (const Span& span : spans_) {
      if (span.range == kNoHandle) continue;
      const Bytes size = sizes_[span.size_class];
      central += (span.slots.count() - span.slots.taken()) * size;
      slack += pages_.size(span.range) - span.slots.count() * size;
    }
    const auto number = [](Bytes bytes) { return static_cast<std::int64_t>(bytes); };
    return {.counters = {{"thread_cache_bytes", number(thread)},
                         {"transfer_cache_bytes", number(transfer)},
                         {"central_bytes", number(central)},
                         {"page_heap_bytes", number(pages_.free_bytes())},
                         {"span_slack_bytes", number(slack)},
                         {"thread_caches", number(caches_.size())},
                         {"fetches", fetches_},
                         {"scavenges", scavenges_}}};
  }

  MemoryState memory_state() const override {
    return tiled(pages_.regions(),
                 std::vector<PlacedBlock>(blocks_.blocks().begin(), blocks_.blocks().end()));
  }

 private:
  Address address_of(Object object) const {
    const Span& span = spans_[object.span];
    return span.address + object.slot * sizes_[span.size_class];
  }
  std::uint64_t batch_of(Bytes size) const {
    return std::clamp<std::uint64_t>(options_.batch / size, 2, 128);
  }

  std::optional<Placement> allocate_small(const Request& request, Bytes size) {
    const std::uint32_t size_class = classes_.number(size);
    sizes_[size_class] = size;
    ThreadCache& cache = cache_of(actors_.number(request.stream, request.thread));
    ObjectList& list = cache.lists[size_class];
    if (list.objects.empty()) {
      if (!fetch(list, size_class)) return std::nullopt;
      cache.bytes += list.objects.size() * size;
    }
    const Object object = list.pop();
    cache.bytes -= size;
    live_bytes_ += size;
    const Address address = address_of(object);
    return Placement{
        address, size,
        blocks_.add(
            {{address, size, request.size}, object, kNoHandle, {request.stream, request.thread}})};
  }

  /// A few objects for an empty list, so that the first one fetched is taken first.
  bool fetch(ObjectList& list, std::uint32_t size_class) {
    const std::uint64_t batch = batch_of(sizes_[size_class]);
    const std::uint64_t wanted = std::min(list.max_length, batch);
    std::vector<Object>& transfer = transfer_[size_class];
    while (list.objects.size() < wanted) {
      if (!transfer.empty()) {
        list.objects.push_back(transfer.back());
        transfer.pop_back();
      } else if (const Object object = take_central(size_class); object.span != kNoSpan) {
        list.objects.push_back(object);
      } else {
        break;
      }
    }
    if (list.objects.empty()) return false;
    std::reverse(list.objects.begin(), list.objects.end());
    ++fetches_;
    list.max_length =
        list.max_length < batch
            ? list.max_length + 1
            : std::max(list.max_length, std::min(list.max_length + batch, options_.list_cap));
    return true;
  }

  void list_too_long(ThreadCache& cache, std::uint32_t size_class) {
    ObjectList& list = cache.lists[size_class];
    const std::uint64_t batch = batch_of(sizes_[size_class]);
    give_up(cache, size_class, batch);
    if (list.max_length < batch) {
      ++list.max_length;
    } else if (list.max_length > batch && ++list.overages > options_.overages) {
      list.max_length -= batch;
      list.overages = 0;
    }
  }

  void scavenge(std::uint32_t actor) {
    ++scavenges_;
    ThreadCache& cache = caches_[actor];
    for (std::uint32_t size_class = 0; size_class < cache.lists.size(); ++size_class) {
      ObjectList& list = cache.lists[size_class];
      if (list.low_water > 0) {
        give_up(cache, size_class, std::max<std::uint64_t>(list.low_water / 2, 1));
        const std::uint64_t batch = batch_of(sizes_[size_class]);
        if (list.max_length > batch) {
          list.max_length = std::max(batch, list.max_length - batch);
        }
      }
      list.low_water = list.objects.size();
    }
    raise_limit(actor);
  }

  void raise_limit(std::uint32_t actor) {
    ThreadCache& cache = caches_[actor];
    if (cache.limit + options_.steal > options_.cache_max) return;
    if (unclaimed_ > 0) {
      unclaimed_ -= static_cast<std::int64_t>(options_.steal);
      cache.limit += options_.steal;
      return;
    }
    for (int i = 0; i < kStealTries; ++i) {
      next_victim_ = (next_victim_ + 1) % caches_.size();
      ThreadCache& victim = caches_[next_victim_];
      if (&victim == &cache || victim.limit < options_.cache_min + options_.steal) continue;
      victim.limit -= options_.steal;
      cache.limit += options_.steal;
      return;
    }
  }

  /// The last freed of a list go to the transfer cache while it has room, then to their spans.
  void give_up(ThreadCache& cache, std::uint32_t size_class, std::uint64_t count) {
    ObjectList& list = cache.lists[size_class];
    count = std::min<std::uint64_t>(count, list.objects.size());
    cache.bytes -= count * sizes_[size_class];
    const std::uint64_t room = options_.transfer * batch_of(sizes_[size_class]);
    for (; count > 0; --count) {
      const Object object = list.pop();
      if (transfer_[size_class].size() < room) {
        transfer_[size_class].push_back(object);
      } else {
        put_central(object);
      }
    }
  }

  /// From the lowest span of the class that has any, or a new one.
  Object take_central(std::uint32_t size_class) {
    const Bytes key = Bytes{size_class} << 9;
    const auto found = with_room_.lower_bound(key);
    std::uint32_t number = kNoSpan;
    if (!found.at_end() && with_room_[found].size == key) {
      number = with_room_[found].block;
    } else if (number = new_span(size_class); number == kNoSpan) {
      return {};
    } else {
      with_room_.insert(entry_of(number));
    }
    Span& span = spans_[number];
    const Object object{number, span.slots.take()};
    if (span.slots.full()) with_room_.erase(entry_of(number));
    return object;
  }

  /// A span of which all objects are there becomes pages again.
  void put_central(Object object) {
    Span& span = spans_[object.span];
    if (span.slots.full()) with_room_.insert(entry_of(object.span));
    span.slots.put(object.slot);
    if (span.slots.taken() != 0) return;
    with_room_.erase(entry_of(object.span));
    pages_.put(span.range);
    span.range = kNoHandle;
    unused_spans_.push_back(object.span);
  }
  void put_all(std::vector<Object>& objects) {
    for (const Object object : objects) put_central(object);
    objects.clear();
  }

  FreeBlock entry_of(std::uint32_t span) const {
    return {Bytes{spans_[span].size_class} << 9, spans_[span].address, span};
  }

  std::uint32_t new_span(std::uint32_t size_class) {
    const Bytes size = sizes_[size_class];
    Bytes bytes = round_up(size, options_.page);
    while (bytes % size > bytes / 8) bytes += options_.page;
    const Handle range = take_pages(bytes, 1);
    if (range == kNoHandle) return kNoSpan;
    std::uint32_t number = static_cast<std::uint32_t>(spans_.size());
    if (unused_spans_.empty()) {
      spans_.emplace_back();
    } else {
      number = unused_spans_.back();
      unused_spans_.pop_back();
    }
    spans_[number] = {range, pages_.address(range), size_class,
                      Slots(static_cast<std::uint32_t>(bytes / size))};
    return number;
  }

  std::optional<Placement> allocate_pages(const Request& request, Bytes size, Bytes alignment) {
    if (size < request.size || pages_.room_for(size, alignment) < size) return std::nullopt;
    const Handle range = take_pages(size, alignment);
    if (range == kNoHandle) return std::nullopt;
    live_bytes_ += size;
    const Address address = pages_.address(range);
    return Placement{
        address, size,
        blocks_.add({{address, size, request.size}, {}, range, {request.stream, request.thread}})};
  }

  Handle take_pages(Bytes size, Bytes alignment) {
    const Handle range = pages_.take(size, alignment);
    if (range != kNoHandle) return range;
    if (!pages_.grow_for(pages_.room_for(size, alignment), options_.grow, usage_, *device_))
      return kNoHandle;
    return pages_.take(size, alignment);
  }

  ThreadCache& cache_of(std::uint32_t actor) {
    while (actor >= caches_.size()) {
      caches_.push_back({std::vector<ObjectList>(transfer_.size()), 0, options_.cache_min});
      unclaimed_ -= static_cast<std::int64_t>(options_.cache_min);
    }
    return caches_[actor];
  }

  TcmallocOptions options_;
  SizeClasses classes_;
  std::vector<std::vector<Object>> transfer_;  ///< by class
  std::vector<Bytes> sizes_;                   ///< by class, of those in use
  PageHeap pages_;
  Actors actors_;
  std::vector<ThreadCache> caches_;  ///< by actor
  std::int64_t unclaimed_;           ///< bytes of `overall` that no cache has as its limit
  std::size_t next_victim_ = 0;
  std::vector<Span> spans_;
  std::vector<std::uint32_t> unused_spans_;
  FreeBlocks with_room_;  ///< spans with objects in the central list, by class
  HandleTable<TcmallocBlock> blocks_;
  StrategyUsage usage_;
  Bytes live_bytes_ = 0;
  std::int64_t fetches_ = 0;
  std::int64_t scavenges_ = 0;
};

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  TcmallocOptions options;
  options.q = alignment_option(spec, "q", options.q);
  const auto size = [&](std::string_view key, Bytes& value, Bytes least) {
    value = size_option(spec, key, value);
    if (value < least || value > 1024 * kTiB) {
      throw UsageError(
          fmt::format("strategy 'tcmalloc': {} is {}; expected {} to 1024TiB", key, value, least));
    }
  };
  options.page = alignment_option(spec, "page", options.page);
  if (options.page > options.q << 24) {
    throw UsageError(
        fmt::format("strategy 'tcmalloc': page is {}; expected at most {}, for spans of "
                    "16 Mi objects",
                    options.page, options.q << 24));
  }
  size("max_small", options.max_small, options.q);
  size("batch", options.batch, 1);
  size("cache_min", options.cache_min, 1);
  size("cache_max", options.cache_max, options.cache_min);
  size("overall", options.overall, 0);
  size("steal", options.steal, 1);
  size("grow", options.grow, 1);
  options.grow = round_up(options.grow, options.page);
  options.list_cap = whole_option(spec, "list_cap", options.list_cap);
  options.overages = whole_option(spec, "overages", options.overages);
  options.transfer =
      std::min<std::uint64_t>(whole_option(spec, "transfer", options.transfer), UINT32_MAX);
  return std::make_unique<Tcmalloc>(options, context.device);
}

}  // namespace

/// A model of tcmalloc (google/tcmalloc, docs/design.md, tcmalloc/thread_cache.cc) for device
/// memory: caches per thread over transfer caches, central lists and a heap of pages.
StrategyInfo tcmalloc_strategy() {
  return {
      .name = "tcmalloc",
      .summary = "tcmalloc's thread caches over central lists and pages, for device memory.",
      .options = {{"q", "SIZE", "512", "The quantum of the size classes."},
                  {"page", "SIZE", "8KiB", "Spans and large blocks are whole pages."},
                  {"max_small", "SIZE", "256KiB", "The largest block that caches keep."},
                  {"batch", "SIZE", "64KiB",
                   "Bytes that move between caches, in 2 to 128 objects."},
                  {"cache_min", "SIZE", "512KiB", "What a thread may cache at first."},
                  {"cache_max", "SIZE", "4MiB", "What a thread may cache at most."},
                  {"overall", "SIZE", "32MiB", "What all threads may cache together."},
                  {"steal", "SIZE", "64KiB", "The step in which a thread may cache more."},
                  {"grow", "SIZE", "32MiB", "What is taken from the device at once, at least."},
                  {"list_cap", "N", "8192", "The longest that a list of one class grows."},
                  {"overages", "N", "3", "Times that a list is too long before it shrinks."},
                  {"transfer", "N", "16", "Batches of a class between threads and central list."}},
      .make = make,
      .scales = true,
      .presets = {{"", 3}}};
}

}  // namespace memreplay
