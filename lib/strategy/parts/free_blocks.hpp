#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <set>
#include <vector>

#include "core/address_table.hpp"
#include "core/request.hpp"

namespace memreplay {

/// A free block as the search for a best fit sees it.
struct FreeBlock {
  Bytes size = 0;
  std::uint64_t rank = 0;  ///< among blocks of equal size; often the address
  Handle block = kNoHandle;

  /// Ranks are distinct among blocks of equal size.
  friend bool operator<(const FreeBlock& a, const FreeBlock& b) {
    return a.size != b.size ? a.size < b.size : a.rank < b.rank;
  }
  friend bool operator==(const FreeBlock&, const FreeBlock&) = default;
};

/// Free blocks by size, then rank: an ordered set for the search of a best fit.
///
/// Sizes count in units of 512 bytes or another power of two, of 1 from the first size on that is
/// no multiple of that. They fall into classes: one for each size up to 2^8 units, 128 for each
/// doubling above. A bitmap finds the next class that holds anything. The blocks of a class lie in
/// chunks, which follow each other in order; within one they lie as they came. Insert, erase and
/// search touch one chunk, O(1) but for classes of many chunks, whose directory is searched in
/// O(log chunks) and shifted where a chunk fills or empties. A copy is a few flat copies.
/// One of many sets begins with one class, then has a quarter of all until its chunks are many: what
/// lies in few places stays in the caches.
class FreeBlocks {
 public:
  /// Where a block lies. Who remembers it finds the block again without a search.
  using Place = std::uint32_t;
  /// A block in the order, or its end. Invalid after a change.
  struct Cursor {
    FreeBlock block;
    Place chunk = 0;
    std::uint32_t index = 0;  ///< in the chunk

    bool at_end() const { return block.block == kNoHandle; }
    friend bool operator==(const Cursor& a, const Cursor& b) { return a.block == b.block; }
  };

  /// Sizes are expected to be multiples of a unit of 2^`unit_log2` bytes.
  explicit FreeBlocks(std::uint32_t unit_log2 = 9, bool one_of_many = false)
      : unit_log2_(unit_log2),
        classes_(one_of_many ? kOneClass : kAllClasses),
        rest_of_unit_((Bytes{1} << unit_log2) - 1) {}

  bool empty() const { return beyond_.empty() && used_words_ == 0; }
  std::size_t size() const;

  void insert(const FreeBlock& block) {
    insert(block, [](Handle, Place) {});
  }
  /// Tells `lies_at(block, place)` of every block that has another place now, this one too.
  template <typename LiesAt>
  void insert(const FreeBlock& block, const LiesAt& lies_at);
  /// The block is there.
  void erase(const FreeBlock& block);
  /// By its number, which no other block in here has. `whole()` tells the rest, where it is needed.
  template <typename Whole>
  void erase(Handle block, Place place, const Whole& whole);
  void erase(const Cursor& at);

  /// The first block of at least this size: `lower_bound` for who asks often.
  Cursor find(Bytes size);
  /// Takes it out; kNoHandle where there is none.
  Handle take(Bytes size);

  const FreeBlock& operator[](const Cursor& at) const { return at.block; }
  Cursor begin() const { return empty() ? Cursor{} : first_from(0); }
  /// The first block of at least this size.
  Cursor lower_bound(Bytes size) const;
  Cursor next(const Cursor& at) const;
  /// The one before; before the end, the last. None before the first: the end.
  Cursor previous(const Cursor& at) const;
  /// Size of the largest; 0 where there is none.
  Bytes largest() const;
  /// Visits every block in order. `visit` must not change this.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const FreeBlock& block : in_order()) visit(block);
  }

 private:
  static constexpr std::uint32_t kChunkSize = 19;  ///< a chunk is five cache lines, an odd number
  static constexpr std::uint32_t kInFirstLine = 3;
  static constexpr std::uint32_t kFineBits = 7;
  static constexpr std::uint32_t kUnitBits = 31;
  static constexpr std::uint64_t kUnitsEnd = std::uint64_t{1} << kUnitBits;
  static constexpr std::uint32_t kClasses = (kUnitBits + 1 - kFineBits) << kFineBits;
  static constexpr std::uint32_t kOneClass = 0;  ///< values of classes_
  static constexpr std::uint32_t kFewClasses = ~3u;
  static constexpr std::uint32_t kAllClasses = UINT32_MAX;
  static constexpr std::size_t kManyChunks = 100;
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr Place kNoChunk = 0;  ///< one that is always full
  static constexpr Place kBeyond = UINT32_MAX;

  /// The order, as one number: to compare two of them takes no branch, which nothing could foresee.
  __extension__ using Key = unsigned __int128;
  static Key key(std::uint32_t units, std::uint64_t rank) { return Key{units} << 64 | rank; }

  struct alignas(16) Entry {  // none lies in two cache lines
    std::uint64_t rank = UINT64_MAX;
    std::uint32_t units = UINT32_MAX;
    Handle block = kNoHandle;

    Key key() const { return FreeBlocks::key(units, rank); }
  };
  struct alignas(64) Chunk {
    std::uint8_t count = 0;
    std::uint8_t open = 0;  ///< as long as `count` is below, the next block needs no search
    std::uint16_t size_class = 0;
    std::uint32_t directory = kNone;             ///< its class's, where that has several chunks
    std::array<Entry, kChunkSize> entries = {};  ///< unused ones, but for the first: Entry{}
  };
  /// Blocks from this one on, in order, lie in the chunk.
  struct Separator {
    std::uint64_t rank = 0;
    std::uint32_t units = 0;
    std::uint32_t chunk = 0;

    Key key() const { return FreeBlocks::key(units, rank); }
  };
  struct ClassPlace {
    Place chunk = kNoChunk;
    std::uint32_t index = 0;
    std::uint32_t size_class = 0;
  };
  struct Found {
    std::uint32_t index = 0;
    std::uint32_t surplus = 0;  ///< units above what was wanted
    bool fits() const { return surplus < kUnitsEnd; }
  };

  std::uint32_t class_of(std::uint32_t units) const {
    const auto octave =
        31u - static_cast<std::uint32_t>(std::countl_zero((units >> kFineBits) | 1));
    return ((octave << kFineBits) + (units >> octave)) & classes_;
  }
  /// All of its blocks have one size.
  bool is_exact(std::uint32_t size_class) const {
    return classes_ == kAllClasses && size_class < 2u << kFineBits;
  }
  /// The first block of at least `wanted` units; where none fits, one that does not.
  static Found best_of(const Chunk& chunk, std::uint32_t wanted);
  static std::uint32_t index_of(const Chunk& chunk, Handle block);

  /// A whole number of units that is counted by classes.
  bool is_regular(Bytes size) const { return ((size | no_tables_) & irregular_) == 0; }
  FreeBlock block_of(const Entry& entry) const {
    return {Bytes{entry.units} << unit_log2_, entry.rank, entry.block};
  }
  Cursor cursor(Place chunk, std::uint32_t index) const {
    return {block_of(chunks_[chunk].entries[index]), chunk, index};
  }
  /// `bits` must not all be 0; that is not tested.
  static std::uint32_t lowest_bit(std::uint64_t bits) {
    return static_cast<std::uint32_t>(std::countr_zero(bits | std::uint64_t{1} << 63));
  }
  std::uint64_t words_behind(std::uint32_t word) const {
    return used_words_ & ~((std::uint64_t{2} << word) - 1);
  }
  /// The first that holds any, from this one on; kNone where none does.
  std::uint32_t used_class_from(std::uint32_t size_class) const;
  ClassPlace spot_for(Bytes size);
  void remove(Place place, std::uint32_t index, std::uint32_t size_class);
  /// Its last entry goes.
  [[gnu::always_inline]] void leave(Place place, std::uint32_t size_class) {
    if (chunks_[place].directory != kNone) [[unlikely]] {
      drop_chunk(place);
    } else {
      unmark(size_class);
    }
  }
  void mark(std::uint32_t size_class);
  void unmark(std::uint32_t size_class);

  // free_blocks.cpp: what is rare
  Handle take_rare(Bytes size);
  Cursor lower_bound_in(std::uint32_t size_class, std::uint32_t units) const;
  /// The first block of this class or of a later one; where they hold none, of those beyond.
  Cursor first_from(std::uint32_t size_class) const;
  std::uint32_t used_class_before(std::uint32_t size_class) const;
  Place last_chunk(std::uint32_t size_class) const;
  std::size_t separator_of(const std::vector<Separator>& directory, const Entry& entry) const;
  Cursor beyond(std::set<FreeBlock>::const_iterator at) const;
  Place place_of(const Entry& entry) const;
  void prepare();
  std::vector<FreeBlock> in_order() const;
  Place new_chunk(std::uint32_t size_class);
  std::vector<FreeBlock> take_all_by(std::uint32_t unit_log2, std::uint32_t classes);
  /// Makes room in a full chunk: the upper half of it moves to a chunk of its own.
  Place split(Place full);
  void drop_chunk(Place place);
  template <typename LiesAt>
  Place place_with_room(Entry entry, LiesAt lies_at);
  template <typename LiesAt>
  void insert_irregular(FreeBlock block, LiesAt lies_at);
  void erase_beyond(FreeBlock block);

  std::uint32_t unit_log2_;
  std::uint32_t classes_;  ///< which bits of a class count
  Bytes rest_of_unit_;
  Bytes irregular_ = UINT64_MAX;  ///< what has a bit of these is not counted in units
  Bytes no_tables_ = UINT64_MAX;  ///< none yet; 0: the tables are there
  std::vector<Place> first_;      ///< the first chunk of each class, kept when it is empty
  std::array<std::uint64_t, kClasses / 64> used_ = {};  ///< a bit for each class that holds any
  std::uint64_t used_words_ = 0;  ///< a bit for each word of used_ that has one
  TableOf<Chunk> chunks_;
  std::vector<Place> unused_chunks_;
  std::vector<std::vector<Separator>> directories_;
  std::vector<std::uint32_t> unused_directories_;
  std::set<FreeBlock> beyond_;  ///< too large to be counted in units
};

// The one of least (surplus, rank); what is too small has a surplus above all that fit, and so has
// what is no block. Among the first few the compiler chooses by branches, and rightly: recorded
// programs repeat themselves there. Where there are more, nothing is foreseen.
inline FreeBlocks::Found FreeBlocks::best_of(const Chunk& chunk, std::uint32_t wanted) {
  const auto* entries = chunk.entries.data();
  Found best{0, entries[0].units - wanted};
  std::uint64_t rank = entries[0].rank;
  for (std::uint32_t i = 1; i < kInFirstLine; ++i) {
    const std::uint32_t surplus = entries[i].units - wanted;
    const bool better =
        (surplus < best.surplus) | ((surplus == best.surplus) & (entries[i].rank < rank));
    best.index = better ? i : best.index;
    best.surplus = better ? surplus : best.surplus;
    rank = better ? entries[i].rank : rank;
  }
  Key least = key(best.surplus, rank);
  for (std::uint32_t i = kInFirstLine; i < chunk.count; ++i) {
    const Key other = key(entries[i].units - wanted, entries[i].rank);
    best.index = other < least ? i : best.index;
    least = std::min(least, other);
  }
  best.surplus = static_cast<std::uint32_t>(least >> 64);
  return best;
}

inline std::uint32_t FreeBlocks::index_of(const Chunk& chunk, Handle block) {
  const auto* entries = chunk.entries.data();
  std::uint32_t index =
      (entries[1].block == block ? 1u : 0u) + (entries[2].block == block ? 2u : 0u);
  for (std::uint32_t i = kInFirstLine; i < chunk.count; ++i) {
    index = entries[i].block == block ? i : index;
  }
  return index;
}

[[gnu::always_inline]] inline std::uint32_t FreeBlocks::used_class_from(
    std::uint32_t size_class) const {
  const std::uint32_t word = size_class / 64;
  // The lowest bit left is the class itself, the next ones those after it.
  const std::uint64_t here = used_[word] >> size_class % 64;
  if (here != 0) return size_class + lowest_bit(here);
  const std::uint64_t words = words_behind(word);
  if (words == 0) [[unlikely]]
    return kNone;
  const std::uint32_t next = lowest_bit(words);
  return next * 64 + lowest_bit(used_[next]);
}

// Where the first block of at least this size lies, in the common case; kNoChunk where that takes
// more than a look at one chunk.
[[gnu::always_inline]] inline FreeBlocks::ClassPlace FreeBlocks::spot_for(Bytes size) {
  if (!is_regular(size)) [[unlikely]]
    return {};
  const auto wanted = static_cast<std::uint32_t>(size >> unit_log2_);
  const std::uint32_t size_class = used_class_from(class_of(wanted));
  if (size_class == kNone) [[unlikely]]
    return {};
  const Place place = first_[size_class];
  const Chunk& chunk = chunks_[place];
  Found found{0, chunk.entries[0].units - wanted};
  if (chunk.count != 1) {
    if ((chunk.directory != kNone) & !is_exact(size_class)) return {};
    found = best_of(chunk, wanted);
  }
  if (!found.fits()) return {};
  return {place, found.index, size_class};
}

[[gnu::always_inline]] inline Handle FreeBlocks::take(Bytes size) {
  const ClassPlace spot = spot_for(size);
  if (spot.chunk == kNoChunk) return take_rare(size);
  const Handle block = chunks_[spot.chunk].entries[spot.index].block;
  remove(spot.chunk, spot.index, spot.size_class);
  return block;
}

[[gnu::always_inline]] inline FreeBlocks::Cursor FreeBlocks::find(Bytes size) {
  const ClassPlace spot = spot_for(size);
  return spot.chunk == kNoChunk ? lower_bound(size) : cursor(spot.chunk, spot.index);
}

// Both from the class alone, which is known before the chunk is in the cache: the next search waits
// for these words.
inline void FreeBlocks::mark(std::uint32_t size_class) {
  used_[size_class / 64] |= std::uint64_t{1} << size_class % 64;
  used_words_ |= std::uint64_t{1} << size_class / 64;
}

[[gnu::always_inline]] inline void FreeBlocks::unmark(std::uint32_t size_class) {
  std::uint64_t& word = used_[size_class / 64];
  word &= ~(std::uint64_t{1} << size_class % 64);
  used_words_ &= ~(std::uint64_t{word == 0} << size_class / 64);
}

// What is rare takes its arguments by value: so they need not lie in memory before.
template <typename LiesAt>
[[gnu::always_inline]] inline void FreeBlocks::insert(const FreeBlock& block,
                                                      const LiesAt& lies_at) {
  if (!is_regular(block.size)) [[unlikely]]
    return insert_irregular<LiesAt>(block, lies_at);
  const auto units = static_cast<std::uint32_t>(block.size >> unit_log2_);
  std::uint32_t size_class = class_of(units);
  Place place = first_[size_class];
  if (chunks_[place].count >= chunks_[place].open) [[unlikely]] {
    place = place_with_room<LiesAt>({block.rank, units, block.block}, lies_at);
    size_class = chunks_[place].size_class;
  }
  Chunk& chunk = chunks_[place];
  mark(size_class);
  Entry& entry = chunk.entries[chunk.count++];
  entry.rank = block.rank;
  entry.units = units;
  entry.block = block.block;
  lies_at(block.block, place);
}

template <typename LiesAt>
[[gnu::noinline]] FreeBlocks::Place FreeBlocks::place_with_room(Entry entry, LiesAt lies_at) {
  Place& first = first_[class_of(entry.units)];
  if (first == kNoChunk) {
    first = new_chunk(class_of(entry.units));
    chunks_[first].open = kChunkSize;
    return first;
  }
  const Place place = place_of(entry);
  if (chunks_[place].count < kChunkSize) return place;
  const bool too_coarse =
      classes_ == kOneClass || (classes_ != kAllClasses && chunks_.size() > kManyChunks);
  if (too_coarse) {
    const std::uint32_t finer = classes_ == kOneClass ? kFewClasses : kAllClasses;
    for (const FreeBlock& other : take_all_by(unit_log2_, finer)) insert(other, lies_at);
    return place_with_room(entry, lies_at);
  }
  const Place fresh = split(place);
  const Chunk& upper = chunks_[fresh];
  for (std::uint32_t i = 0; i < upper.count; ++i) lies_at(upper.entries[i].block, fresh);
  return place_of(entry);
}

template <typename LiesAt>
[[gnu::noinline]] void FreeBlocks::insert_irregular(FreeBlock block, LiesAt lies_at) {
  if (first_.empty()) {
    prepare();
    return insert(block, lies_at);
  }
  if ((block.size & rest_of_unit_) == 0) {
    beyond_.insert(block);
    return lies_at(block.block, kBeyond);
  }
  const std::vector<FreeBlock> all = take_all_by(0, classes_);
  for (const FreeBlock& other : all) insert(other, lies_at);
  insert(block, lies_at);
}

[[gnu::always_inline]] inline void FreeBlocks::remove(Place place, std::uint32_t index,
                                                      std::uint32_t size_class) {
  Chunk& chunk = chunks_[place];
  const std::uint32_t last = --chunk.count;
  if (last == 0) return leave(place, size_class);
  Entry& hole = chunk.entries[index];
  const Entry& moved = chunk.entries[last];
  hole.rank = moved.rank;
  hole.units = moved.units;
  hole.block = moved.block;
  chunk.entries[last] = Entry{};
}

template <typename Whole>
[[gnu::always_inline]] inline void FreeBlocks::erase(Handle block, Place place,
                                                     const Whole& whole) {
  if (place == kBeyond) [[unlikely]]
    return erase_beyond(whole());
  const Chunk& chunk = chunks_[place];
  remove(place, chunk.count == 1 ? 0 : index_of(chunk, block), chunk.size_class);
}

inline void FreeBlocks::erase(const Cursor& at) {
  if (at.chunk == kBeyond) return erase_beyond(at.block);
  remove(at.chunk, at.index, chunks_[at.chunk].size_class);
}

}  // namespace memreplay
