#include "strategy/parts/free_blocks.hpp"

#include <algorithm>
#include <utility>

namespace memreplay {
namespace {

constexpr auto by_key = [](const auto& a, const auto& b) { return a.key() < b.key(); };

}  // namespace

// All tables at their full size, so that no call has to ask.
void FreeBlocks::prepare() {
  constexpr std::size_t kFewChunks = 10;
  no_tables_ = 0;
  irregular_ = rest_of_unit_ | ~((kUnitsEnd << unit_log2_) - 1);
  first_.resize(((kClasses - 1) & classes_) + 1, kNoChunk);
  // To grow one by one takes longer than all that few blocks do.
  chunks_.reserve(classes_ == kOneClass ? 2 : kFewChunks);
  chunks_.emplace_back();
  static_assert(kClasses / 64 < 64);
}

// The last class below this one that holds any.
std::uint32_t FreeBlocks::used_class_before(std::uint32_t size_class) const {
  std::uint32_t word = size_class / 64;
  const auto last_bit = [](std::uint64_t bits) {
    return 63 - static_cast<std::uint32_t>(std::countl_zero(bits));
  };
  const auto below = [](std::uint32_t bit) { return (std::uint64_t{1} << bit) - 1; };
  if (word < used_.size()) {
    const std::uint64_t here = used_[word] & below(size_class % 64);
    if (here != 0) return word * 64 + last_bit(here);
  }
  const std::uint64_t words = used_words_ & below(word);
  if (words == 0) return kNone;
  word = last_bit(words);
  return word * 64 + last_bit(used_[word]);
}

std::size_t FreeBlocks::size() const {
  std::size_t count = beyond_.size();
  for (const Chunk& chunk : chunks_) count += chunk.count;
  return count;
}

FreeBlocks::Cursor FreeBlocks::first_from(std::uint32_t size_class) const {
  const std::uint32_t found = size_class < kClasses ? used_class_from(size_class) : kNone;
  if (found == kNone) return beyond(beyond_.begin());
  const Place place = first_[found];
  return cursor(place, best_of(chunks_[place], 0).index);
}

FreeBlocks::Cursor FreeBlocks::beyond(std::set<FreeBlock>::const_iterator at) const {
  return at == beyond_.end() ? Cursor{} : Cursor{*at, kBeyond, 0};
}

FreeBlocks::Cursor FreeBlocks::lower_bound(Bytes size) const {
  const std::uint64_t units = (size >> unit_log2_) + ((size & rest_of_unit_) != 0);
  if (units >= kUnitsEnd) return beyond(beyond_.lower_bound({.size = size}));
  const auto wanted = static_cast<std::uint32_t>(units);
  const std::uint32_t size_class = used_class_from(class_of(wanted));
  if (size_class == kNone) return beyond(beyond_.begin());
  // Sizes of one class differ: all of its blocks may be too small, those of the next never are.
  const Place place = first_[size_class];
  const Chunk& chunk = chunks_[place];
  if (chunk.directory != kNone && !is_exact(size_class)) return lower_bound_in(size_class, wanted);
  const Found found = best_of(chunk, wanted);
  if (found.fits()) return cursor(place, found.index);
  return first_from(size_class + 1);
}

void FreeBlocks::erase_beyond(FreeBlock block) { beyond_.erase(block); }

Handle FreeBlocks::take_rare(Bytes size) {
  const Cursor at = lower_bound(size);
  if (!at.at_end()) erase(at);
  return at.block.block;
}

// For a class of several chunks.
FreeBlocks::Cursor FreeBlocks::lower_bound_in(std::uint32_t size_class, std::uint32_t units) const {
  const Chunk& first = chunks_[first_[size_class]];
  const std::vector<Separator>& directory = directories_[first.directory];
  const std::size_t at = separator_of(directory, {.rank = 0, .units = units});
  const Found found = best_of(chunks_[directory[at].chunk], units);
  if (found.fits()) return cursor(directory[at].chunk, found.index);
  if (at + 1 == directory.size()) return first_from(size_class + 1);
  const Place place = directory[at + 1].chunk;
  return cursor(place, best_of(chunks_[place], 0).index);
}

// The last one that is not after the entry. The first is before everything.
std::size_t FreeBlocks::separator_of(const std::vector<Separator>& directory,
                                     const Entry& entry) const {
  const Key wanted = entry.key();
  std::size_t low = 0;
  std::size_t count = directory.size();
  while (count > 1) {
    const std::size_t half = count / 2;
    low = wanted < directory[low + half].key() ? low : low + half;
    count -= half;
  }
  return low;
}

FreeBlocks::Place FreeBlocks::place_of(const Entry& entry) const {
  const Place first = first_[class_of(entry.units)];
  if (chunks_[first].directory == kNone) return first;
  const std::vector<Separator>& directory = directories_[chunks_[first].directory];
  return directory[separator_of(directory, entry)].chunk;
}

FreeBlocks::Place FreeBlocks::last_chunk(std::uint32_t size_class) const {
  const Place first = first_[size_class];
  const std::uint32_t directory = chunks_[first].directory;
  return directory == kNone ? first : directories_[directory].back().chunk;
}

FreeBlocks::Cursor FreeBlocks::next(const Cursor& at) const {
  if (at.chunk == kBeyond) return beyond(beyond_.upper_bound(at.block));
  const Chunk& chunk = chunks_[at.chunk];
  const Entry& before = chunk.entries[at.index];
  const Entry* best = nullptr;
  for (std::uint32_t i = 0; i < chunk.count; ++i) {
    const Entry& entry = chunk.entries[i];
    if (by_key(before, entry) && (best == nullptr || by_key(entry, *best))) best = &entry;
  }
  if (best != nullptr) {
    return cursor(at.chunk, static_cast<std::uint32_t>(best - chunk.entries.data()));
  }
  if (chunk.directory != kNone) {
    const std::vector<Separator>& directory = directories_[chunk.directory];
    const std::size_t behind = separator_of(directory, before) + 1;
    if (behind < directory.size()) {
      const Place place = directory[behind].chunk;
      return cursor(place, best_of(chunks_[place], 0).index);
    }
  }
  return first_from(chunk.size_class + 1);
}

FreeBlocks::Cursor FreeBlocks::previous(const Cursor& at) const {
  const auto last_of = [&](Place place) {
    const Chunk& chunk = chunks_[place];
    const auto end = chunk.entries.begin() + chunk.count;
    const auto last = std::max_element(chunk.entries.begin(), end, by_key);
    return cursor(place, static_cast<std::uint32_t>(last - chunk.entries.begin()));
  };
  if (empty()) return {};
  if (at.at_end() || at.chunk == kBeyond) {
    const auto behind = at.at_end() ? beyond_.end() : beyond_.find(at.block);
    if (behind != beyond_.begin()) return beyond(std::prev(behind));
    const std::uint32_t last = used_class_before(kClasses);
    return last == kNone ? Cursor{} : last_of(last_chunk(last));
  }
  const Chunk& chunk = chunks_[at.chunk];
  const Entry& behind = chunk.entries[at.index];
  const Entry* best = nullptr;
  for (std::uint32_t i = 0; i < chunk.count; ++i) {
    const Entry& entry = chunk.entries[i];
    if (by_key(entry, behind) && (best == nullptr || by_key(*best, entry))) best = &entry;
  }
  if (best != nullptr) {
    return cursor(at.chunk, static_cast<std::uint32_t>(best - chunk.entries.data()));
  }
  if (chunk.directory != kNone) {
    const std::vector<Separator>& directory = directories_[chunk.directory];
    const std::size_t own = separator_of(directory, behind);
    if (own > 0) return last_of(directory[own - 1].chunk);
  }
  const std::uint32_t before = used_class_before(chunk.size_class);
  return before == kNone ? Cursor{} : last_of(last_chunk(before));
}

Bytes FreeBlocks::largest() const {
  if (empty()) return 0;
  if (!beyond_.empty()) return beyond_.rbegin()->size;
  const Chunk& chunk = chunks_[last_chunk(used_class_before(kClasses))];
  std::uint32_t units = 0;
  for (std::uint32_t i = 0; i < chunk.count; ++i) units = std::max(units, chunk.entries[i].units);
  return Bytes{units} << unit_log2_;
}

std::vector<FreeBlock> FreeBlocks::in_order() const {
  std::vector<FreeBlock> blocks;
  for (const Chunk& chunk : chunks_) {
    for (std::uint32_t i = 0; i < chunk.count; ++i) blocks.push_back(block_of(chunk.entries[i]));
  }
  std::ranges::sort(blocks, [](const FreeBlock& a, const FreeBlock& b) { return a < b; });
  blocks.insert(blocks.end(), beyond_.begin(), beyond_.end());
  return blocks;
}

// Leaves an empty set, with its tables.
std::vector<FreeBlock> FreeBlocks::take_all_by(std::uint32_t unit_log2, std::uint32_t classes) {
  std::vector<FreeBlock> blocks = in_order();
  *this = FreeBlocks(unit_log2);
  classes_ = classes;
  prepare();
  return blocks;
}

FreeBlocks::Place FreeBlocks::new_chunk(std::uint32_t size_class) {
  if (unused_chunks_.empty()) {
    unused_chunks_.push_back(static_cast<Place>(chunks_.size()));
    chunks_.emplace_back();
  }
  const Place place = unused_chunks_.back();
  unused_chunks_.pop_back();
  chunks_[place].size_class = static_cast<std::uint16_t>(size_class);
  return place;
}

FreeBlocks::Place FreeBlocks::split(Place full) {
  const Place fresh = new_chunk(chunks_[full].size_class);
  Chunk& lower = chunks_[full];
  Chunk& upper = chunks_[fresh];
  std::ranges::sort(lower.entries, by_key);
  const auto middle = lower.entries.begin() + kChunkSize / 2 + 1;
  std::copy(middle, lower.entries.end(), upper.entries.begin());
  std::fill(middle, lower.entries.end(), Entry{});
  lower.count = kChunkSize / 2 + 1;
  upper.count = kChunkSize - lower.count;
  if (lower.directory == kNone) {
    if (unused_directories_.empty()) {
      unused_directories_.push_back(static_cast<std::uint32_t>(directories_.size()));
      directories_.emplace_back();
    }
    lower.directory = unused_directories_.back();
    unused_directories_.pop_back();
    directories_[lower.directory] = {{0, 0, full}};
  }
  upper.directory = lower.directory;
  lower.open = 0;
  std::vector<Separator>& directory = directories_[lower.directory];
  const Entry& border = upper.entries.front();
  const std::size_t at = separator_of(directory, border) + 1;
  directory.insert(directory.begin() + static_cast<std::ptrdiff_t>(at),
                   {border.rank, border.units, fresh});
  return fresh;
}

// For a class of several chunks. The last entry is still there.
void FreeBlocks::drop_chunk(Place place) {
  const Entry& last = chunks_[place].entries.front();
  const std::uint32_t number = std::exchange(chunks_[place].directory, kNone);
  chunks_[place].open = 0;
  std::vector<Separator>& directory = directories_[number];
  directory.erase(directory.begin() + static_cast<std::ptrdiff_t>(separator_of(directory, last)));
  directory.front().rank = 0;
  directory.front().units = 0;
  first_[chunks_[place].size_class] = directory.front().chunk;
  unused_chunks_.push_back(place);
  if (directory.size() > 1) return;
  chunks_[directory.front().chunk].directory = kNone;
  chunks_[directory.front().chunk].open = kChunkSize;
  unused_directories_.push_back(number);
}

void FreeBlocks::erase(const FreeBlock& block) {
  if (!is_regular(block.size)) return erase_beyond(block);
  const auto units = static_cast<std::uint32_t>(block.size >> unit_log2_);
  const Place place = place_of({block.rank, units, block.block});
  const auto& entries = chunks_[place].entries;
  std::uint32_t index = 0;
  while (entries[index].rank != block.rank || entries[index].units != units) ++index;
  remove(place, index, chunks_[place].size_class);
}

}  // namespace memreplay
