#include "analysis/recorded/stack_profile.hpp"

#include <map>
#include <string>
#include <utility>

namespace memreplay {
namespace {

class ProfileOf {
 public:
  ProfileOf(const Recording& recording, const Places& places)
      : recording_(recording), places_(places) {}

  void request(const Asker& asker, Bytes size) {
    ProfiledStack& sums = sums_[asker];
    sums.requested += size;
    ++sums.requests;
  }
  void live(const Asker& asker, Bytes size) {
    ProfiledStack& sums = sums_[asker];
    sums.live += size;
    ++sums.live_blocks;
  }

  StackProfile profile() {
    for (auto& [asker, sums] : sums_) {
      ProfiledStack& stack = profile_.stacks.emplace_back(std::move(sums));
      if (asker.stack == 0) {
        stack.frames = {number({places_.name_of(asker), "", 0})};
        continue;
      }
      for (const std::uint32_t frame : recording_.stacks[asker.stack]) {
        stack.frames.push_back(number_of(recording_.frames[frame]));
      }
    }
    return std::move(profile_);
  }

 private:
  std::uint32_t number_of(const Frame& frame) {
    return number({recording_.texts[frame.name], recording_.texts[frame.file],
                   frame.line == kNoLine ? 0 : frame.line});
  }
  std::uint32_t number(ProfiledFrame frame) {
    const auto next = static_cast<std::uint32_t>(profile_.frames.size());
    const auto [at, is_new] = numbers_.emplace(std::move(frame), next);
    if (is_new) profile_.frames.push_back(at->first);
    return at->second;
  }

  const Recording& recording_;
  const Places& places_;
  std::map<Asker, ProfiledStack> sums_;
  std::map<ProfiledFrame, std::uint32_t> numbers_;
  StackProfile profile_;
};

}  // namespace

StackProfile stack_profile(const Recording& recording, const Trace& trace, const Places& places,
                           const std::vector<LiveBlock>& live, std::optional<std::uint64_t> event) {
  ProfileOf profile(recording, places);
  for (const SegmentInfo& segment : trace.start.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state != BlockState::allocated || block.slot == kNoSlot) continue;
      profile.request(asker_of(trace, block), block.requested);
    }
  }
  for (std::uint64_t i = 0; event && i <= *event; ++i) {
    if (trace.ops[i] == Op::allocate) profile.request(asker_of(trace, i), trace.sizes[i]);
  }
  for (const LiveBlock& block : live) profile.live(block.asker, block.requested);
  return profile.profile();
}

}  // namespace memreplay
