#include "analysis/minimise/edits.hpp"

#include <tuple>

namespace memreplay {

namespace {

// The last block is the last event, too.
void add_late(Story& story, const std::vector<Bytes>& sizes) {
  Story::Block last = story.blocks.back();
  story.blocks.pop_back();
  for (const Bytes size : sizes) {
    story.blocks.push_back({.size = size, .born = last.born++, .lane = last.lane});
  }
  story.places = last.born + 1;
  story.blocks.push_back(last);
}

}  // namespace

bool join(Story::Block& into, const Story::Block& other, Joint joint) {
  Story::Block joined = into;
  joined.size += other.size;
  if (!joint.born_first) joined.born = other.born;
  if (other.is_freed() && (other.freed > into.freed) == joint.freed_last) {
    std::tie(joined.freed, joined.completed) = std::pair(other.freed, other.completed);
    std::tie(joined.free_lane, joined.free_event) = std::pair(other.free_lane, other.free_event);
  }
  if (joined.is_freed() && joined.freed < joined.born) return false;
  into = joined;
  return true;
}

Story filled(Story story, const Filler& filler) {
  std::vector<Story::Block> blocks;
  const auto add = [&](Bytes size) {
    blocks.push_back({.size = size,
                      .born = static_cast<Story::Place>(blocks.size()),
                      .lane = story.blocks.back().lane});
  };
  const bool grows = story.blocks.size() > 1 && !story.blocks.front().is_freed();
  if (grows) story.blocks.front().size += filler.growth;
  if (!grows && filler.growth > 0) add(filler.growth);
  for (const Bytes size : filler.blocks) add(size);
  const auto shift = static_cast<Story::Place>(blocks.size());
  for (Story::Block& block : story.blocks) {
    block.born += shift;
    if (!block.is_freed()) continue;
    block.freed += shift;
    block.completed += shift;
  }
  for (Story::Mark& mark : story.marks) mark.place += shift;
  story.places += shift;
  story.blocks.insert(story.blocks.begin(), blocks.begin(), blocks.end());
  if (!filler.late.empty()) add_late(story, filler.late);
  return story;
}

}  // namespace memreplay
