#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/request.hpp"

namespace memreplay {

/// Which streams have a free list, in order of their first appearance, and what each list offers.
/// The next list that offers enough is found in O(log streams).
class StreamLists {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// The place of the stream in the order; from now on it has a list.
  std::uint32_t open(StreamIndex stream) {
    if (stream >= place_of_.size()) place_of_.resize(stream + 1, kNone);
    std::uint32_t& place = place_of_[stream];
    if (place == kNone) {
      place = static_cast<std::uint32_t>(places_++);
      if (places_ > leaves_) widen();
      changed_flags_.resize(places_);
    }
    if (tree_[leaves_ + place] == 0) set(place, 1);
    return place;
  }
  void close(std::uint32_t place) { set(place, 0); }
  bool several() const { return places_ > 1; }

  /// What the list offers is another now; `refresh` will ask.
  void changed(std::uint32_t place) {
    if (changed_flags_[place]) return;
    changed_flags_[place] = true;
    changed_.push_back(place);
  }
  template <typename Offer>
  void refresh(const Offer& offer) {
    for (const std::uint32_t place : changed_) {
      changed_flags_[place] = false;
      if (tree_[leaves_ + place] != 0) set(place, offer(place) + 1);
    }
    changed_.clear();
  }

  /// The first list from `place` on that offers at least so much.
  std::uint32_t next_offering(std::uint32_t place, Bytes least) const {
    return next(place, least + 1);
  }
  std::uint32_t next_open(std::uint32_t place) const { return next(place, 1); }

 private:
  std::uint32_t next(std::uint32_t place, Bytes least) const {
    if (place >= leaves_) return kNone;
    std::size_t node = leaves_ + place;
    while (tree_[node] < least) {
      if (std::has_single_bit(node + 1)) return kNone;
      ++node;
      while (node % 2 == 0) node /= 2;
    }
    while (node < leaves_) node = 2 * node + (tree_[2 * node] < least);
    return static_cast<std::uint32_t>(node - leaves_);
  }
  void set(std::uint32_t place, Bytes value) {
    std::size_t node = leaves_ + place;
    tree_[node] = value;
    while (node > 1) {
      node /= 2;
      tree_[node] = std::max(tree_[2 * node], tree_[2 * node + 1]);
    }
  }
  void widen() {
    std::vector<Bytes> values(tree_.begin() + static_cast<std::ptrdiff_t>(leaves_), tree_.end());
    leaves_ *= 2;
    tree_.assign(2 * leaves_, 0);
    for (std::size_t place = 0; place < values.size(); ++place) {
      set(static_cast<std::uint32_t>(place), values[place]);
    }
  }

  std::vector<std::uint32_t> place_of_;  ///< by stream
  std::size_t places_ = 0;
  std::size_t leaves_ = 1;
  /// The largest value below each node; of a list: 0 where there is none, else 1 + its offer.
  std::vector<Bytes> tree_ = {0, 0};
  std::vector<std::uint32_t> changed_;
  std::vector<bool> changed_flags_;
};

}  // namespace memreplay
