#pragma once

#include <algorithm>

#include "core/units.hpp"

namespace memreplay::torch {

/// A limit that notes with which sizes it was compared: any other one between them would have
/// decided the same, so that a search over settings need not try it.
class WatchedLimit {
 public:
  explicit WatchedLimit(Bytes limit = UINT64_MAX) : limit_(limit) {}

  Bytes value() const { return limit_; }
  /// size < limit
  bool above(Bytes size) const {
    if (size < limit_) {
      largest_below_ = std::max(largest_below_, size);
      return true;
    }
    smallest_from_ = std::min(smallest_from_, size);
    return false;
  }
  /// As `above` does, for a size that is below every limit.
  void note_below(Bytes size) const {
    if (size > largest_below_) largest_below_ = size;
  }
  /// Every limit in (lowest, highest] would have given the same answers so far.
  Bytes lowest() const { return largest_below_; }
  Bytes highest() const { return smallest_from_; }

 private:
  Bytes limit_;
  mutable Bytes largest_below_ = 0;
  mutable Bytes smallest_from_ = UINT64_MAX;
};

}  // namespace memreplay::torch
