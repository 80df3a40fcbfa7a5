#pragma once

#include "core/units.hpp"

namespace memreplay {

/// Bytes of memory that may still be promised. A machine that overcommits never refuses; it ends
/// the process when the pages are touched.
class Room {
 public:
  explicit Room(Bytes size) : left_(size) {}

  bool take(Bytes bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  void give_back(Bytes bytes) { left_ += bytes; }
  Bytes left() const { return left_; }

 private:
  Bytes left_;
};

}  // namespace memreplay
