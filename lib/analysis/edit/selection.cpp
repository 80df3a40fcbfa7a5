#include "analysis/edit/selection.hpp"

#include <algorithm>
#include <map>

#include "analysis/recorded/places.hpp"

namespace memreplay {

SelectedBlocks selection_of(const Recording& recording, const Trace& trace,
                            const Selector& selector) {
  const BlockLives lives = lives_of(trace);
  const Places places(recording);
  SelectedBlocks all;
  std::map<std::string, PlaceSum> by_place;
  std::vector<bool> picked(lives.blocks.size(), false);
  for (const std::uint32_t block : selected(recording, trace, lives, selector)) {
    const BlockLife& life = lives.blocks[block];
    picked[block] = true;
    all.smallest = all.blocks == 0 ? life.size : std::min(all.smallest, life.size);
    all.largest = std::max(all.largest, life.size);
    ++all.blocks;
    all.bytes += life.size;
    const Asker asker = life.existed_before() ? Asker{.stack = life.stack, .before = true}
                                              : asker_of(trace, life.born);
    PlaceSum& sum = by_place[places.name_of(asker)];
    sum.bytes += life.size;
    ++sum.blocks;
  }
  for (auto& [name, sum] : by_place) all.places.push_back({name, sum.bytes, sum.blocks});
  std::ranges::stable_sort(all.places, std::ranges::greater(), &PlaceSum::bytes);

  Bytes live = 0;
  Bytes live_of_all = 0;
  Bytes peak_of_all = 0;
  const auto add = [&](std::uint32_t block, std::uint64_t event) {
    live_of_all += lives.blocks[block].size;
    if (picked[block]) live += lives.blocks[block].size;
    if (live > all.peak_live) {
      all.peak_live = live;
      all.peak_event = event;
    }
    if (live_of_all > peak_of_all) {
      peak_of_all = live_of_all;
      all.at_peak = live;
    }
  };
  for (std::uint32_t i = 0; i < lives.blocks.size() && lives.blocks[i].existed_before(); ++i) {
    add(i, 0);
  }
  for (std::uint64_t event = 0; event < trace.size(); ++event) {
    const std::uint32_t block = lives.block_of[event];
    if (block == BlockLives::kNone) continue;
    if (trace.ops[event] == Op::allocate) add(block, event);
    if (lives.blocks[block].freed != event) continue;
    live_of_all -= lives.blocks[block].size;
    if (picked[block]) live -= lives.blocks[block].size;
  }
  return all;
}

}  // namespace memreplay
