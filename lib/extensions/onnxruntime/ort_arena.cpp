#include "extensions/onnxruntime/ort_arena.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.hpp"
#include "strategy/parts/backpedal.hpp"
#include "strategy/parts/regions.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

constexpr std::uint32_t kOrtGranuleLog2 = 8;
constexpr Bytes kOrtGranule = Bytes{1} << kOrtGranuleLog2;
/// A refused region is not tried again with less than this.
constexpr Bytes kLeastBackpedalled = 8 * kKiB;
/// Beyond it growth would wrap.
constexpr Bytes kLargestOrtRequest = Bytes{1} << 62;

}  // namespace

OrtArena::OrtArena(const OrtArenaOptions& options, DeviceModel& device)
    : StrategyOn(device),
      options_(options),
      growth_(
          round_up(std::min(options.max_mem.value_or(UINT64_MAX), options.initial_chunk_size_bytes),
                   kOrtGranule)),
      free_(kOrtGranuleLog2) {}

std::optional<Placement> OrtArena::allocate(const Request& request) {
  if (request.size > kLargestOrtRequest) {
    refuse(Refusal::By::device);
    return std::nullopt;
  }
  const Wanted wanted{round_up(request.size, kOrtGranule),
                      std::max(kOrtGranule, request.alignment)};
  Handle chunk = take(wanted);
  if (chunk == kNoHandle && extend(wanted)) chunk = take(wanted);
  if (chunk == kNoHandle) return std::nullopt;
  return hand_out(chunk, request.size);
}

std::optional<Placement> OrtArena::reserve(Bytes size) {
  const auto address = device_->obtain(size);
  if (!address) return std::nullopt;
  Piece whole;
  whole.region = *address;
  whole.reserved = true;
  statistics_.held += size;
  ++statistics_.reserves;
  return hand_out(chunks_.add_region(*address, size, whole), size);
}

void OrtArena::free(Handle block, FreeOrigin) {
  Piece& freed = chunks_[block];
  freed.in_use = false;
  statistics_.in_use -= freed.size;
  if (freed.reserved) {
    statistics_.held -= freed.size;
    return give_back_region(block);
  }
  const Handle joined = chunks_.join_neighbours(block, [this](Handle neighbour) {
    if (chunks_[neighbour].in_use) return false;
    free_.erase(key_of(neighbour));
    return true;
  });
  free_.insert(key_of(joined));
}

// Regions that double keep the first one ever.
void OrtArena::empty_cache() {
  std::vector<Handle> unused;
  for (const auto& [address, first] : chunks_.regions()) {
    const bool stays = !options_.same_as_requested && address == first_region_;
    // Without a block it is one free chunk.
    const bool used = chunks_[first].in_use || !chunks_.fills_region(first);
    if (!stays && !used) unused.push_back(first);
  }
  for (const Handle region : unused) {
    free_.erase(key_of(region));
    statistics_.held -= chunks_[region].size;
    --statistics_.extensions;
    ++statistics_.shrinkages;
    give_back_region(region);
  }
  growth_ = options_.initial_growth_chunk_size_bytes;
}

FreeSpace OrtArena::free_space() const {
  return {.total = statistics_.held - statistics_.lost - statistics_.in_use,
          .largest = free_.largest(),
          .obtainable = options_.max_mem ? below_limit() : UINT64_MAX};
}

std::vector<AddressRange> OrtArena::free_ranges() const {
  std::vector<AddressRange> ranges;
  free_.for_each([&](const FreeBlock& chunk) {
    ranges.push_back({chunk.rank, chunk.rank + chunk.size});
  });
  return ranges;
}

Testimony OrtArena::testimony() const {
  const auto number = [](Bytes bytes) { return static_cast<std::int64_t>(bytes); };
  const Statistics& s = statistics_;
  Testimony told{.counters = {{"Limit", options_.max_mem ? number(*options_.max_mem) : -1},
                              {"InUse", number(s.in_use)},
                              {"TotalAllocated", number(s.held)},
                              {"MaxInUse", number(s.most_in_use)},
                              {"NumAllocs", s.allocs},
                              {"NumReserves", s.reserves},
                              {"NumArenaExtensions", s.extensions},
                              {"NumArenaShrinkages", s.shrinkages},
                              {"MaxAllocSize", number(s.largest_alloc)}}};
  if (s.lost != 0) {
    told.remarks.push_back(
        fmt::format("{} bytes came in regions of no multiple of {}; the original fails the request "
                    "and never uses or returns them",
                    s.lost, kOrtGranule));
  }
  return told;
}

std::string OrtArena::oom_report(const Request& request) const {
  const Bytes size = round_up(request.size, kOrtGranule);
  if (refusal_.by == Refusal::By::limit) {
    return fmt::format("Available memory of {} is smaller than requested bytes of {}\n",
                       refusal_.available, size);
  }
  if (refusal_.by == Refusal::By::odd_size) {
    return "0 == memory_size % kMinAllocationSize was false.\n";
  }
  return fmt::format("Failed to allocate memory for requested buffer of size {}\n", size);
}

bool OrtArena::refuse(Refusal::By by, Bytes available) {
  refusal_ = {by, available};
  return false;
}

// Reserves are not limited: where they passed the limit this wraps, as in the original, and there
// is none any more.
Bytes OrtArena::below_limit() const {
  const Bytes limit = options_.max_mem.value_or(UINT64_MAX);
  return (limit - statistics_.held) / kOrtGranule * kOrtGranule;
}

FreeBlock OrtArena::key_of(Handle chunk) const {
  return {chunks_[chunk].size, chunks_[chunk].address, chunk};
}

// Cuts the request out of the smallest free chunk, the lowest of equals.
Handle OrtArena::take(const Wanted& wanted) {
  Handle chunk = best_fit(free_, wanted);
  if (chunk == kNoHandle) return kNoHandle;
  free_.erase(key_of(chunk));
  if (const Bytes lead = wanted.lead(chunks_[chunk].address); lead > 0) {
    const Handle rest = chunks_.split(chunk, lead);
    free_.insert(key_of(chunk));
    chunk = rest;
  }
  const Bytes surplus = chunks_[chunk].size - wanted.size;
  if (surplus >= wanted.size || surplus >= options_.max_dead_bytes_per_chunk) {
    free_.insert(key_of(chunks_.split(chunk, wanted.size)));
  }
  return chunk;
}

bool OrtArena::extend(const Wanted& wanted) {
  const Bytes available = below_limit();
  if (wanted.size > available) return refuse(Refusal::By::limit, available);
  Bytes size = options_.same_as_requested ? wanted.size : next_region(wanted.size, available);
  auto region = obtain_aligned(*device_, size, wanted.alignment);
  while (!region) {
    size = backpedalled(size, kOrtGranule);
    if (size < std::max(wanted.size, kLeastBackpedalled)) return refuse(Refusal::By::device);
    region = obtain_aligned(*device_, size, wanted.alignment);
  }
  statistics_.held += size;
  if (size % kOrtGranule != 0) {
    statistics_.lost += size;
    return refuse(Refusal::By::odd_size);
  }
  ++statistics_.extensions;
  if (!first_region_) first_region_ = region->aligned;
  Piece whole;
  whole.region = region->address;
  free_.insert(key_of(chunks_.add_region(region->aligned, size, whole)));
  return true;
}

// How much to ask the device for; the size after it is settled before the device answers. The cap
// also lowers a size that a large request has raised above it.
Bytes OrtArena::next_region(Bytes size, Bytes available) {
  const bool raised = size > growth_;
  while (size > growth_) growth_ *= 2;
  const Bytes wanted = std::min(growth_, available);
  const Bytes cap = options_.max_power_of_two_extend_bytes;
  if (!raised) growth_ = growth_ < cap / 2 + cap % 2 ? 2 * growth_ : cap;
  return wanted;
}

Placement OrtArena::hand_out(Handle chunk, Bytes requested) {
  Piece& taken = chunks_[chunk];
  taken.in_use = true;
  taken.requested = requested;
  Statistics& s = statistics_;
  s.in_use += taken.size;
  s.most_in_use = std::max(s.most_in_use, s.in_use);
  s.largest_alloc = std::max(s.largest_alloc, taken.size);
  ++s.allocs;
  return {taken.address, taken.size, chunk};
}

void OrtArena::give_back_region(Handle first) {
  const Address region = chunks_[first].region;
  chunks_.remove_region(first);
  device_->give_back(region);
}

namespace {

/// -1 is the original's word for the default.
Bytes ort_size_option(const StrategySpec& spec, std::string_view key, Bytes default_value) {
  if (find_option(spec, key) == "-1") return default_value;
  const Bytes size = size_option(spec, key, default_value);
  if (size > 0) return size;
  throw UsageError(
      fmt::format("strategy 'ort-arena': {} is 0; expected more, or -1 for the default", key));
}

bool same_as_requested(const StrategySpec& spec) {
  constexpr std::string_view kExtend[] = {"kNextPowerOfTwo", "kSameAsRequested", "0", "1", "-1"};
  const std::size_t extend = choice_option(spec, "arena_extend_strategy", kExtend, 0);
  return kExtend[extend] == "kSameAsRequested" || kExtend[extend] == "1";
}

std::unique_ptr<Strategy> make_ort_arena(const StrategySpec& spec, const StrategyContext& context) {
  OrtArenaOptions options;
  const Bytes limit = size_option(spec, "max_mem", 0);
  if (limit > 0) options.max_mem = limit;
  options.same_as_requested = same_as_requested(spec);
  for (const auto& [key, value] :
       {std::pair{"initial_chunk_size_bytes", &options.initial_chunk_size_bytes},
        std::pair{"max_dead_bytes_per_chunk", &options.max_dead_bytes_per_chunk},
        std::pair{"initial_growth_chunk_size_bytes", &options.initial_growth_chunk_size_bytes},
        std::pair{"max_power_of_two_extend_bytes", &options.max_power_of_two_extend_bytes}}) {
    *value = ort_size_option(spec, key, *value);
  }
  return std::make_unique<OrtArena>(options, context.device);
}

/// Regions as large as the request take nothing of how others grow. The original keeps some sizes
/// as a C int.
std::vector<std::string> ort_settings_to_try() {
  std::vector<std::string> settings = {"arena_extend_strategy=kSameAsRequested"};
  const std::vector<std::string> dead = {"16MiB", "1MiB", "1GiB"};
  const std::vector<std::string> first = {"16MiB", "64MiB", "256MiB", "1GiB"};
  const std::vector<std::string> cap = {"16MiB", "64MiB", "256MiB", "4GiB", "64GiB"};
  const auto add = [&](const std::string& key, const std::vector<std::string>& values) {
    std::vector<std::string> longer;
    for (const std::string& setting : settings) {
      const bool grows = setting.find("kSameAsRequested") == std::string::npos;
      if (!grows && key != "max_dead_bytes_per_chunk") continue;
      for (const std::string& value : values) {
        longer.push_back(fmt::format("{},{}={}", setting, key, value));
      }
    }
    for (const std::string& value : values) longer.push_back(fmt::format("{}={}", key, value));
    settings.insert(settings.end(), longer.begin(), longer.end());
  };
  add("initial_chunk_size_bytes", first);
  add("max_power_of_two_extend_bytes", cap);
  add("max_dead_bytes_per_chunk", dead);
  std::ranges::stable_sort(
      settings, {}, [](const std::string& setting) { return std::ranges::count(setting, '='); });
  return settings;
}

/// What a session's provider options take: how regions grow, and the limit.
std::string as_provider_options(const StrategySpec& spec) {
  std::vector<std::string> entries;
  if (find_option(spec, "max_mem")) {
    entries.push_back(fmt::format("\"gpu_mem_limit\": {}", size_option(spec, "max_mem", 0)));
  }
  if (find_option(spec, "arena_extend_strategy")) {
    entries.push_back(fmt::format("\"arena_extend_strategy\": \"{}\"", same_as_requested(spec)
                                                                           ? "kSameAsRequested"
                                                                           : "kNextPowerOfTwo"));
  }
  return fmt::format("providers=[(\"CUDAExecutionProvider\", {{{}}})]", fmt::join(entries, ", "));
}

/// All options, of an arena that sessions share.
std::string as_arena_configuration(const StrategySpec& spec) {
  std::vector<std::string> entries;
  for (const auto& [key, value] : spec.options) {
    std::string number = value;
    if (key == "arena_extend_strategy") {
      number = same_as_requested(spec) ? "1" : "0";
    } else if (value != "-1") {
      number = std::to_string(size_option(spec, key, 0));
    }
    entries.push_back(fmt::format("\"{}\": {}", key, number));
  }
  return fmt::format("onnxruntime.OrtArenaCfg({{{}}})  # for create_and_register_allocator",
                     fmt::join(entries, ", "));
}

std::string ort_as_set(const StrategySpec& spec) {
  const bool for_provider = std::ranges::all_of(spec.options, [](const auto& option) {
    return option.first == "arena_extend_strategy" || option.first == "max_mem";
  });
  return for_provider ? as_provider_options(spec) : as_arena_configuration(spec);
}

}  // namespace

StrategyInfo ort_arena_strategy() {
  return {
      .name = "ort-arena",
      .summary = "ONNX Runtime's BFC arena: regions double up to a cap; a shrink returns them.",
      .options = {{"max_mem", "SIZE", "0", "Bytes that it may hold; 0: no limit."},
                  {"arena_extend_strategy", "kNextPowerOfTwo|kSameAsRequested", "kNextPowerOfTwo",
                   "Regions double, or are as large as the request. Also 0 and 1."},
                  {"initial_chunk_size_bytes", "SIZE", "1MiB", "The first region, if they double."},
                  {"max_dead_bytes_per_chunk", "SIZE", "128MiB",
                   "A surplus of this is split off; less only if a chunk is twice the request."},
                  {"initial_growth_chunk_size_bytes", "SIZE", "2MiB",
                   "The next region after a shrink (an emptied cache), not the second one."},
                  {"max_power_of_two_extend_bytes", "SIZE", "1GiB",
                   "Regions double up to here; one of a larger request may pass it."}},
      .make = make_ort_arena,
      .keeps_regions = true,
      .known_as = {{"onnxruntime"}, {"ort"}, {"onnx"}},
      .settings_to_try = ort_settings_to_try,
      .as_set = ort_as_set};
}

}  // namespace memreplay
