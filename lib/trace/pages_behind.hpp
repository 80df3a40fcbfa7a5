#pragma once

#include <cstddef>

#include "trace/reader.hpp"

namespace memreplay {

/// Gives back the pages of a mapped file that have been read, which halves the memory of a reading
/// (they stay in the page cache), and tells how far it is.
class PagesBehind {
 public:
  explicit PagesBehind(const Input& input);

  /// All before `p` has been read; texts may still be looked at.
  void passed(const char* p) {
    if (p >= next_) release(p);
  }

 private:
  void release(const char* p);

  const Input& input_;
  const char* from_;
  const char* next_;
};

}  // namespace memreplay
