#include "extensions/umpire/umpire_pool.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace memreplay {

std::optional<Placement> UmpirePool::allocate(const Request& request) {
  const Wanted wanted{round_up(request.size, options_.align),
                      std::max(options_.align, request.alignment)};
  if (wanted.size < request.size) return std::nullopt;
  const Handle block = take(wanted);
  if (block == kNoHandle) return std::nullopt;
  chunks_[block].requested = request.size;
  figures_.current_size += request.size;
  return Placement{chunks_[block].address, chunks_[block].size, block};
}

void UmpirePool::free(Handle block, FreeOrigin) {
  figures_.current_size -= chunks_[block].requested;
  put(block);
  coalesce();
}

void UmpirePool::empty_cache() {
  std::vector<Handle> unused;  // by size and rank
  free_.for_each([&](const FreeBlock& free) {
    if (chunks_.fills_region(free.block)) unused.push_back(free.block);
  });
  if (!is_quick()) {
    std::sort(unused.begin(), unused.end(),
              [&](Handle a, Handle b) { return chunks_[a].address < chunks_[b].address; });
  }
  for (const Handle block : unused) {
    unlist(block);
    figures_.actual_size -= chunks_[block].size;
    --figures_.total_blocks;
    device_->give_back(chunks_[block].region);
    chunks_.remove_region(block);
  }
}

// The original's QuickPool calls itself; where nothing changes from one call to the next, it does
// so without end.
void UmpirePool::coalesce() {
  UmpireFigures before;
  for (Bytes target = suggestion(); target != 0; target = suggestion()) {
    if (!coalesce_to(target) || !is_quick()) return;
    if (figures_ == before) {
      ++endless_;
      return;
    }
    before = figures_;
  }
}

FreeSpace UmpirePool::free_space() const {
  return {.total = figures_.actual_size - figures_.aligned_size, .largest = free_.largest()};
}

std::vector<AddressRange> UmpirePool::free_ranges() const {
  std::vector<AddressRange> ranges;
  free_.for_each([&](const FreeBlock& free) {
    const Address from = chunks_[free.block].address;
    ranges.push_back({from, from + free.size});
  });
  return ranges;
}

Testimony UmpirePool::testimony() const {
  const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  Testimony says{.counters = {{"aligned_hwm", number(figures_.aligned_hwm)},
                              {"actual_hwm", number(figures_.actual_hwm)},
                              {"releasable_blocks", number(figures_.releasable_blocks)},
                              {"total_blocks", number(figures_.total_blocks)}}};
  if (endless_ != 0) {
    says.remarks.push_back(
        fmt::format("at {} frees Umpire's coalescing never ends: the program would overflow its "
                    "stack there; here it stops.",
                    endless_));
  }
  if (coalesce_refused_ != 0) {
    says.remarks.push_back(fmt::format(
        "at {} frees the device refused the block to coalesce to: the program would end "
        "there; here it goes on without.",
        coalesce_refused_));
  }
  return says;
}

FreeBlock UmpirePool::entry_of(Handle chunk) const {
  return {chunks_[chunk].size, chunks_[chunk].rank, chunk};
}

/// Among equal chunks, a QuickPool serves the one that came first, a DynamicPoolList the lowest.
void UmpirePool::list(Handle chunk) {
  Piece& piece = chunks_[chunk];
  piece.in_use = false;
  piece.rank = is_quick() ? inserted_++ : piece.address;
  free_.insert(entry_of(chunk));
  ++figures_.free_chunks;
  if (!chunks_.fills_region(chunk)) return;
  figures_.releasable_bytes += piece.size;
  ++figures_.releasable_blocks;
}

void UmpirePool::unlist(Handle chunk) {
  free_.erase(entry_of(chunk));
  --figures_.free_chunks;
  if (!chunks_.fills_region(chunk)) return;
  figures_.releasable_bytes -= chunks_[chunk].size;
  --figures_.releasable_blocks;
}

Handle UmpirePool::find(const Wanted& wanted) const {
  for (auto at = free_.lower_bound(wanted.size); !at.at_end(); at = free_.next(at)) {
    const Piece& piece = chunks_[free_[at].block];
    if (wanted.fits(piece.address, piece.size)) return free_[at].block;
  }
  return kNoHandle;
}

Handle UmpirePool::grow(const Wanted& wanted) {
  // Umpire knows no alignment of a single request: what is above the pool's own has room to move.
  const Bytes room = wanted.alignment > options_.align ? wanted.alignment : 0;
  const Bytes size =
      std::max(wanted.size + room, figures_.actual_size == 0 ? options_.first : options_.next);
  const Bytes asked = size + options_.align;
  if (wanted.size + room < wanted.size || asked < size) return kNoHandle;
  auto region = device_->obtain(asked);
  if (!region) {
    ++refusals_;
    empty_cache();
    region = device_->obtain(asked);
  }
  if (!region) return kNoHandle;
  Piece whole;
  whole.region = *region;
  const Handle block = chunks_.add_region(round_up(*region, options_.align), size, whole);
  figures_.actual_size += size;
  figures_.actual_hwm = std::max(figures_.actual_hwm, figures_.actual_size);
  ++figures_.total_blocks;
  list(block);
  return block;
}

/// A chunk of the size, cut out of the smallest that fits; what is left over is listed.
Handle UmpirePool::take(const Wanted& wanted) {
  Handle block = find(wanted);
  if (block == kNoHandle) block = grow(wanted);
  if (block == kNoHandle) return kNoHandle;
  unlist(block);
  if (const Bytes lead = wanted.lead(chunks_[block].address); lead != 0) {
    const Handle upper = chunks_.split(block, lead);
    list(block);
    block = upper;
  }
  if (wanted.size < chunks_[block].size) list(chunks_.split(block, wanted.size));
  chunks_[block].in_use = true;
  figures_.aligned_size += wanted.size;
  figures_.aligned_hwm = std::max(figures_.aligned_hwm, figures_.aligned_size);
  return block;
}

void UmpirePool::put(Handle chunk) {
  figures_.aligned_size -= chunks_[chunk].size;
  list(chunks_.join_neighbours(chunk, [&](Handle neighbour) {
    if (chunks_[neighbour].in_use) return false;
    unlist(neighbour);
    return true;
  }));
}

Bytes UmpirePool::suggestion() const {
  const UmpireFigures& now = figures_;
  const Bytes target = options_.to_peak ? now.aligned_hwm : now.actual_size;
  if (options_.counts_blocks) return now.releasable_blocks >= options_.value ? target : 0;
  if (options_.value == 0) return 0;
  if (options_.value == 100) {
    const bool all = is_quick() ? now.actual_size == now.releasable_bytes : now.current_size == 0;
    return all ? target : 0;
  }
  const float share = static_cast<float>(options_.value) / 100.0F;
  const float threshold = share * static_cast<float>(now.actual_size);
  return now.releasable_bytes >= static_cast<Bytes>(threshold) ? target : 0;
}

bool UmpirePool::coalesce_to(Bytes target) {
  if ((is_quick() ? figures_.free_chunks : figures_.releasable_blocks) <= 1) return false;
  empty_cache();
  if (figures_.actual_size >= target) return false;
  const Bytes missing = round_up(target - figures_.actual_size, options_.align);
  const Handle block = take({missing, options_.align});
  if (block == kNoHandle) {
    coalesce_refused_ += is_quick();
    return false;
  }
  put(block);
  return true;
}

std::vector<OptionInfo> umpire_option_infos() {
  return {{"first", "SIZE", "512MiB", "Least size of a device block while the pool holds none."},
          {"next", "SIZE", "1MiB", "Least size of the others."},
          {"align", "SIZE", "16", "Sizes and addresses are multiples of this."},
          {"heuristic", "percent|percent_hwm|blocks|blocks_hwm", "percent_hwm",
           "What to count for coalescing; hwm: up to the peak, else up to what was held."},
          {"value", "N", "100", "Percent of the bytes, or blocks, that must be releasable."}};
}

UmpireOptions umpire_options(const StrategySpec& spec, UmpireKind kind) {
  constexpr std::string_view kHeuristics[] = {"percent", "percent_hwm", "blocks", "blocks_hwm"};
  UmpireOptions options{.kind = kind};
  options.first = size_option(spec, "first", options.first);
  options.next = size_option(spec, "next", options.next);
  options.align = alignment_option(spec, "align", options.align);
  const std::size_t heuristic = choice_option(spec, "heuristic", kHeuristics, 1);
  options.counts_blocks = heuristic >= 2;
  options.to_peak = heuristic % 2 == 1;
  options.value =
      whole_option(spec, "value", options.value, 0, options.counts_blocks ? UINT64_MAX : 100);
  return options;
}

}  // namespace memreplay
