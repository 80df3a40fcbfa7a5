#include "strategy/play.hpp"
#include "strategy/torch/serving.hpp"

namespace memreplay::torch {

/// The calls of the allocator by fewer rules.
template <class Rules, bool kHints>
struct Allocator::Player {
  static constexpr std::uint32_t kNoLane = UINT32_MAX;

  Allocator& allocator;
  std::uint32_t lane = kNoLane;  ///< the allocator is turned to it

  [[gnu::always_inline]] Service allocate(const Program& program, std::uint64_t event,
                                          Placement& placed) {
    const Bytes size = program.sizes[event];
    if (program.lane_of[event] != lane) [[unlikely]] {
      const StreamPool next = program.lane(event);
      lane = kNoLane;
      if (!Rules::kPrivatePools && next.pool != 0) {
        return allocator.serve_by_all_rules(size, next, placed);
      }
      allocator.turn_to(next);
      lane = program.lane_of[event];
    }
    return allocator.serve<Rules>(size, placed);
  }
  void free(const Program&, std::uint64_t, Handle block) { allocator.take_back<Rules>(block); }
  void request_free(Handle block) { allocator.request_free(block); }
  void complete_free(Handle block) { allocator.complete_free(block); }
  FreeSpace free_space() const { return allocator.free_space(); }
  [[gnu::always_inline]] void prefetch(const Program& program, std::uint64_t event,
                                       const Placement* blocks) const {
    if constexpr (!kHints) return;
    hint_at_frees(program, event, blocks, allocator.blocks_.data(),
                  [](const Block& block) { return std::pair(block.prev, block.next); });
  }
};

bool Allocator::has_limits() const {
  return settings_.max_split_size != kUnlimited || settings_.garbage_collection_threshold > 0 ||
         pools_.front().searches > 0 ||
         std::ranges::any_of(settings_.roundup_power2_divisions,
                             [](std::uint32_t divisions) { return divisions > 1; });
}

template <class Rules>
StopPoint Allocator::play_by(const Stretch& stretch) {
  if (blocks_.size() <= kFewRecords) return play_directly(Player<Rules, false>{*this}, stretch);
  return play_directly(Player<Rules, true>{*this}, stretch);
}

StopPoint Allocator::play(const Stretch& stretch) {
  // Between two that live one may be free: room that is not needed is never touched.
  blocks_.reserve(stretch.blocks.size() * 2);
  const bool may_expand = settings_.expandable_segments || !reservations_.empty();
  const bool is_fork = settings_.request_padding > 0 || settings_.large_alignment > 0;
  if (is_fork || tie_break_ != Release::TieBreak::segment_number || (may_expand && has_limits())) {
    return play_by<AllRules>(stretch);
  }
  if (may_expand) return play_by<ExpandableRules>(stretch);
  return has_limits() ? play_by<LimitRules>(stretch) : play_by<PlainRules>(stretch);
}

}  // namespace memreplay::torch
