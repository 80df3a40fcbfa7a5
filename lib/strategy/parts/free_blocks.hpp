#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/request.hpp"

namespace memreplay {

/// A free block as the search for a best fit sees it.
struct FreeBlock {
  Bytes size = 0;
  std::uint64_t rank = 0;  ///< among blocks of equal size; often the address
  Handle block = kNoHandle;

  /// Ranks are distinct among blocks of equal size. As one number of 128 bits, two compare in two
  /// instructions.
  friend bool operator<(const FreeBlock& a, const FreeBlock& b) { return a.key() < b.key(); }

 private:
  __extension__ using Key = unsigned __int128;
  Key key() const { return static_cast<Key>(size) << 64 | rank; }
};

/// Free blocks by size, then rank: an ordered set for the search of a best fit.
///
/// Sizes fall into classes: one for each multiple of 512 bytes up to 64 KiB, 128 for each doubling
/// above. A bitmap finds the next class that holds anything; within a class blocks lie sorted in
/// chunks. Insert, erase and search touch one chunk, O(1) but for classes of many chunks, whose
/// directory is searched in O(log chunks) and shifted where a chunk fills or empties. A copy is
/// three flat copies.
class FreeBlocks {
 public:
  /// A place in the order. Invalid after a change.
  struct Cursor {
    std::uint32_t size_class = UINT32_MAX;
    std::uint32_t chunk = 0;  ///< of the class, by order
    std::uint32_t index = 0;  ///< in the chunk

    bool at_end() const { return size_class == UINT32_MAX; }
    friend bool operator==(const Cursor&, const Cursor&) = default;
  };

  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  void insert(const FreeBlock& block);
  /// The block is there.
  void erase(const FreeBlock& block);
  void erase(const Cursor& at);

  const FreeBlock& operator[](const Cursor& at) const {
    return chunks_[chunk_of(classes_[at.size_class], at.chunk)].blocks[at.index];
  }
  Cursor begin() const { return first_from(0); }
  /// The first block of at least this size.
  Cursor lower_bound(Bytes size) const;
  Cursor next(Cursor at) const;
  /// The one before; before the end, the last. None before the first: the end.
  Cursor previous(Cursor at) const;
  /// Size of the largest; 0 where there is none.
  Bytes largest() const;
  /// Visits every block in order. `visit` must not change this.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (Cursor at = begin(); !at.at_end(); at = next(at)) visit((*this)[at]);
  }

 private:
  static constexpr std::uint32_t kChunkSize = 20;
  static constexpr std::uint32_t kStride = 4;  ///< blocks compared at once
  static constexpr FreeBlock kNothing{UINT64_MAX, UINT64_MAX, kNoHandle};
  static constexpr std::uint32_t kFineBits = 7;

  struct Chunk {
    Chunk() { blocks.fill(kNothing); }

    std::uint32_t count = 0;
    std::array<FreeBlock, kChunkSize> blocks;  ///< behind the last: kNothing
  };
  /// The chunks of a class: a chunk's number, or where there are several, that of a directory.
  struct SizeClass {
    std::uint32_t chunks = 0;
    std::uint32_t where = 0;
  };

  static std::uint32_t class_of(Bytes size) {
    const std::uint64_t units = size >> 9;
    if (units < (1u << kFineBits)) return static_cast<std::uint32_t>(units);
    const auto octave = static_cast<std::uint32_t>(std::bit_width(units)) - 1 - kFineBits;
    return ((octave + 1) << kFineBits) +
           static_cast<std::uint32_t>((units >> octave) & ((1u << kFineBits) - 1));
  }
  std::uint32_t chunk_of(const SizeClass& c, std::uint32_t i) const {
    return c.chunks == 1 ? c.where : directories_[c.where][i];
  }
  Cursor first_from(std::uint32_t size_class) const;
  Cursor last_to(std::uint32_t size_class) const;
  Cursor last_of(std::size_t size_class) const;
  Cursor find(std::uint32_t size_class, const FreeBlock& key) const;
  std::uint32_t new_chunk();
  void add_chunk(SizeClass& c, std::uint32_t position, std::uint32_t chunk);
  void remove_chunk(std::uint32_t size_class, std::uint32_t position);
  void mark(std::uint32_t size_class, bool used);

  std::size_t count_ = 0;
  std::vector<SizeClass> classes_;
  std::vector<std::uint64_t> used_;        ///< a bit for each class
  std::vector<std::uint64_t> used_words_;  ///< a bit for each word of used_
  std::vector<Chunk> chunks_;
  std::vector<std::uint32_t> unused_chunks_;
  std::vector<std::vector<std::uint32_t>> directories_;
  std::vector<std::uint32_t> unused_directories_;
};

}  // namespace memreplay
