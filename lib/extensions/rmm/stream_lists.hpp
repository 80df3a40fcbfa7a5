#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/request.hpp"
#include "strategy/parts/max_tree.hpp"

namespace memreplay {

/// Which streams have a free list, in order of their first appearance, and what each list offers.
/// The next list that offers enough is found in O(log streams).
class StreamLists {
 public:
  static constexpr std::uint32_t kNone = MaxTree::kNone;

  /// The place of the stream in the order; from now on it has a list.
  std::uint32_t open(StreamIndex stream) {
    if (stream >= place_of_.size()) place_of_.resize(stream + 1, kNone);
    std::uint32_t& place = place_of_[stream];
    if (place == kNone) {
      place = static_cast<std::uint32_t>(places_++);
      offers_.reach(places_);
      changed_flags_.resize(places_);
    }
    if (offers_.at(place) == 0) offers_.set(place, 1);
    return place;
  }
  void close(std::uint32_t place) { offers_.set(place, 0); }
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
      if (offers_.at(place) != 0) offers_.set(place, offer(place) + 1);
    }
    changed_.clear();
  }

  /// The first list from `place` on that offers at least so much.
  std::uint32_t next_offering(std::uint32_t place, Bytes least) const {
    return offers_.next(place, least + 1);
  }
  std::uint32_t next_open(std::uint32_t place) const { return offers_.next(place, 1); }
  /// The largest offer, as `refresh` found it; 0 where there is no list.
  Bytes most_offered() const { return offers_.top() - std::min<Bytes>(offers_.top(), 1); }

 private:
  std::vector<std::uint32_t> place_of_;  ///< by stream
  std::size_t places_ = 0;
  MaxTree offers_;  ///< 0 where there is no list, else 1 + its offer
  std::vector<std::uint32_t> changed_;
  std::vector<bool> changed_flags_;
};

}  // namespace memreplay
