#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/units.hpp"
#include "trace/reader.hpp"

namespace memreplay {

/// Gives back the pages of a file that have been read, which halves the memory of a reading, and
/// tells how far it is. Those of a mapped file stay in the page cache, those that were unpacked
/// (Input::arrival) are gone: a reader that would see them again throws, and is called with all.
class PagesBehind {
 public:
  explicit PagesBehind(const Input& input);

  /// All before `p` has been read; texts of a mapped file may still be looked at. True now and
  /// then: after each piece of some MiB.
  bool passed(const char* p) {
    if (p < next_) return false;
    release(p);
    return true;
  }

 private:
  void release(const char* p);

  const Input& input_;
  const char* from_;
  const char* next_;
};

// Room for much at once with few page faults: one for each page is a tenth of reading a snapshot.
// Where little is asked for, or the system knows no better, both are `reserve`.

/// Gives advice for the whole pages among `bytes` from `items` on.
template <class T>
void advise_pages(std::vector<T>& items, std::size_t bytes, int advice) {
  constexpr std::uintptr_t kPage = 4096;
  const auto begin = reinterpret_cast<std::uintptr_t>(items.data());
  const std::uintptr_t first = (begin + kPage - 1) / kPage * kPage;
  const std::uintptr_t end = (begin + bytes) / kPage * kPage;
  if (end > first) madvise(reinterpret_cast<void*>(first), end - first, advice);
}

/// For `count` items at most: memory that is not needed is never touched.
template <class T>
void reserve_at_most(std::vector<T>& items, std::size_t count) {
  items.reserve(count);
  if (count * sizeof(T) >= 3 * kMiB) advise_pages(items, count * sizeof(T), MADV_HUGEPAGE);
}

/// For `count` items that will all be there: their pages are obtained in one call.
template <class T>
void reserve_exactly(std::vector<T>& items, std::size_t count) {
  if (count <= items.capacity()) return;
  reserve_at_most(items, count);
#ifdef MADV_POPULATE_WRITE
  if (count * sizeof(T) >= kMiB / 4) advise_pages(items, count * sizeof(T), MADV_POPULATE_WRITE);
#endif
}

/// About as many lines as a text has, by its shortest among those of several places; rather too
/// many. Memory that is reserved for more than there are is never touched.
inline std::size_t about_lines(std::string_view text) {
  constexpr std::size_t kShortLine = 4;
  constexpr std::size_t kSample = 16 * kKiB;
  constexpr std::size_t kPlaces = 8;
  const std::size_t apart = std::max(text.size() / kPlaces, kSample);
  std::size_t lines = 0;  // the most in a sample
  for (std::size_t at = 0; at < text.size(); at += apart) {
    const std::string_view sample = text.substr(at, kSample);
    lines = std::max(lines, static_cast<std::size_t>(std::ranges::count(sample, '\n')));
  }
  return std::min((lines + 1) * (text.size() / kSample + 1), text.size() / kShortLine);
}

}  // namespace memreplay
