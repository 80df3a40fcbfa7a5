#include "strategy/parts/free_blocks.hpp"

#include <algorithm>

namespace memreplay {

// A bit for each class, and one for each word of those: a stretch of 4,096 empty classes costs one
// look.
void FreeBlocks::mark(std::uint32_t size_class, bool used) {
  const std::uint32_t word = size_class / 64;
  if (used) {
    used_[word] |= std::uint64_t{1} << (size_class % 64);
    used_words_[word / 64] |= std::uint64_t{1} << (word % 64);
    return;
  }
  used_[word] &= ~(std::uint64_t{1} << (size_class % 64));
  if (used_[word] == 0) used_words_[word / 64] &= ~(std::uint64_t{1} << (word % 64));
}

// The first block of the first class from this one on that holds any.
FreeBlocks::Cursor FreeBlocks::first_from(std::uint32_t size_class) const {
  std::uint32_t word = size_class / 64;
  if (word >= used_.size()) return {};
  // The lowest bit left is the class itself, the next ones those behind it.
  const std::uint64_t here = used_[word] >> (size_class % 64);
  if (here != 0) return {size_class + static_cast<std::uint32_t>(std::countr_zero(here)), 0, 0};
  ++word;
  for (std::uint32_t group = word / 64; group < used_words_.size(); ++group) {
    std::uint64_t words = used_words_[group];
    // Words before the first one that counts are shifted out.
    if (group == word / 64) words = words >> (word % 64) << (word % 64);
    if (words == 0) continue;
    const auto found = group * 64 + static_cast<std::uint32_t>(std::countr_zero(words));
    return {found * 64 + static_cast<std::uint32_t>(std::countr_zero(used_[found])), 0, 0};
  }
  return {};
}

// The last block of the last class up to, but without, this one that holds any.
FreeBlocks::Cursor FreeBlocks::last_to(std::uint32_t size_class) const {
  const std::size_t below =
      std::min<std::size_t>(size_class, classes_.size());  // classes that may hold it
  // The rest of the class's own word, shifted so that the highest bit is the class before it; then
  // whole words, a group at a time.
  if (below % 64 != 0) {
    const std::uint64_t here = used_[below / 64] << (64 - below % 64);
    if (here != 0) return last_of(below - 1 - std::countl_zero(here));
  }
  const std::size_t words = below / 64;
  for (std::size_t group = words / 64 + 1; group-- > 0;) {
    if (group >= used_words_.size()) continue;
    std::uint64_t bits = used_words_[group];
    if (group == words / 64) bits &= (std::uint64_t{1} << (words % 64)) - 1;
    if (bits == 0) continue;
    const std::size_t word = group * 64 + 63 - static_cast<std::size_t>(std::countl_zero(bits));
    return last_of(word * 64 + 63 - static_cast<std::size_t>(std::countl_zero(used_[word])));
  }
  return {};
}

FreeBlocks::Cursor FreeBlocks::last_of(std::size_t size_class) const {
  const SizeClass& found = classes_[size_class];
  const std::uint32_t chunk = found.chunks - 1;
  return {static_cast<std::uint32_t>(size_class), chunk, chunks_[chunk_of(found, chunk)].count - 1};
}

// The first block of the class that is not before `key`; its index may be one behind the last.
FreeBlocks::Cursor FreeBlocks::find(std::uint32_t size_class, const FreeBlock& key) const {
  const SizeClass& c = classes_[size_class];
  std::uint32_t low = 0;
  // The first chunk whose last block is not before the key, else the last chunk.
  if (c.chunks > 1) {
    const std::vector<std::uint32_t>& directory = directories_[c.where];
    std::uint32_t high = c.chunks - 1;
    while (low < high) {
      const std::uint32_t middle = (low + high) / 2;
      const Chunk& chunk = chunks_[directory[middle]];
      if (chunk.blocks[chunk.count - 1] < key) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
  }
  const Chunk& chunk = chunks_[chunk_of(c, low)];
  // Counted without branches, which nothing could predict; kNothing behind the last block is before
  // no key.
  std::uint32_t index = 0;
  for (std::uint32_t i = 0; i < chunk.count; i += kStride) {
    for (std::uint32_t j = 0; j < kStride; ++j) index += chunk.blocks[i + j] < key;
  }
  return {size_class, low, index};
}

FreeBlocks::Cursor FreeBlocks::lower_bound(Bytes size) const {
  const std::uint32_t size_class = class_of(size);
  if (size_class >= classes_.size()) return {};
  // Sizes of one class differ: all of its blocks may be too small, those of the next never are.
  if (classes_[size_class].chunks > 0) {
    const Cursor at = find(size_class, {.size = size, .rank = 0, .block = 0});
    const SizeClass& c = classes_[size_class];
    if (at.index < chunks_[chunk_of(c, at.chunk)].count) return at;
  }
  return first_from(size_class + 1);
}

FreeBlocks::Cursor FreeBlocks::next(Cursor at) const {
  const SizeClass& c = classes_[at.size_class];
  if (++at.index < chunks_[chunk_of(c, at.chunk)].count) return at;
  if (at.chunk + 1 < c.chunks) return {at.size_class, at.chunk + 1, 0};
  return first_from(at.size_class + 1);
}

FreeBlocks::Cursor FreeBlocks::previous(Cursor at) const {
  if (at.at_end()) return last_to(UINT32_MAX);
  if (at.index > 0) return {at.size_class, at.chunk, at.index - 1};
  if (at.chunk == 0) return last_to(at.size_class);
  const SizeClass& c = classes_[at.size_class];
  return {at.size_class, at.chunk - 1, chunks_[chunk_of(c, at.chunk - 1)].count - 1};
}

Bytes FreeBlocks::largest() const {
  const Cursor last = last_to(UINT32_MAX);
  return last.at_end() ? 0 : (*this)[last].size;
}

std::uint32_t FreeBlocks::new_chunk() {
  if (unused_chunks_.empty()) {
    chunks_.emplace_back();
    return static_cast<std::uint32_t>(chunks_.size() - 1);
  }
  const std::uint32_t chunk = unused_chunks_.back();
  unused_chunks_.pop_back();
  return chunk;
}

void FreeBlocks::add_chunk(SizeClass& c, std::uint32_t position, std::uint32_t chunk) {
  if (c.chunks == 0) {
    c = {1, chunk};
    return;
  }
  if (c.chunks == 1) {
    std::uint32_t directory = static_cast<std::uint32_t>(directories_.size());
    if (unused_directories_.empty()) {
      directories_.emplace_back();
    } else {
      directory = unused_directories_.back();
      unused_directories_.pop_back();
    }
    directories_[directory] = {c.where};
    c.where = directory;
  }
  std::vector<std::uint32_t>& directory = directories_[c.where];
  directory.insert(directory.begin() + position, chunk);
  ++c.chunks;
}

void FreeBlocks::remove_chunk(std::uint32_t size_class, std::uint32_t position) {
  SizeClass& c = classes_[size_class];
  unused_chunks_.push_back(chunk_of(c, position));
  if (--c.chunks == 0) return mark(size_class, false);
  std::vector<std::uint32_t>& directory = directories_[c.where];
  directory.erase(directory.begin() + position);
  if (c.chunks > 1) return;
  unused_directories_.push_back(c.where);
  c.where = directory.front();
}

void FreeBlocks::insert(const FreeBlock& block) {
  const std::uint32_t size_class = class_of(block.size);
  if (size_class >= classes_.size()) {
    classes_.resize(size_class + 1);
    used_.resize(size_class / 64 + 1);
    used_words_.resize(used_.size() / 64 + 1);
  }
  ++count_;
  SizeClass& c = classes_[size_class];
  if (c.chunks == 0) {
    add_chunk(c, 0, new_chunk());
    mark(size_class, true);
  }
  Cursor at = find(size_class, block);
  std::uint32_t number = chunk_of(c, at.chunk);
  if (chunks_[number].count == kChunkSize) {
    // The second half moves to a chunk of its own.
    constexpr std::uint32_t kHalf = kChunkSize / 2;
    const std::uint32_t fresh = new_chunk();
    Chunk& full = chunks_[number];
    std::copy(full.blocks.begin() + kHalf, full.blocks.end(), chunks_[fresh].blocks.begin());
    chunks_[fresh].count = kChunkSize - kHalf;
    full.count = kHalf;
    std::fill(full.blocks.begin() + kHalf, full.blocks.end(), kNothing);
    add_chunk(c, at.chunk + 1, fresh);
    if (at.index > kHalf) {
      at.index -= kHalf;
      number = fresh;
    }
  }
  Chunk& chunk = chunks_[number];
  for (std::uint32_t i = chunk.count++; i > at.index; --i) chunk.blocks[i] = chunk.blocks[i - 1];
  chunk.blocks[at.index] = block;
}

void FreeBlocks::erase(const FreeBlock& block) { erase(find(class_of(block.size), block)); }

void FreeBlocks::erase(const Cursor& at) {
  --count_;
  Chunk& chunk = chunks_[chunk_of(classes_[at.size_class], at.chunk)];
  --chunk.count;
  for (std::uint32_t i = at.index; i < chunk.count; ++i) chunk.blocks[i] = chunk.blocks[i + 1];
  chunk.blocks[chunk.count] = kNothing;
  if (chunk.count == 0) remove_chunk(at.size_class, at.chunk);
}

}  // namespace memreplay
