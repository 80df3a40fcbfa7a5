#include "strategy/bfc/serving.hpp"
#include "strategy/play.hpp"

namespace memreplay::bfc {

/// The calls of the allocator where all chunks are of the lower end and safe at once.
template <bool kHints>
struct Allocator::Player {
  Allocator& allocator;

  [[gnu::always_inline]] Service allocate(const Program& program, std::uint64_t event,
                                          Placement& placed) {
    const Bytes requested = program.sizes[event];
    if (requested > kLargestRequest || program.align_log2[event] > kGranuleLog2) {
      return anew(program, event, placed);
    }
    Allocator& a = allocator;
    const Bytes size = rounded(requested);
    const Handle chunk = a.bins_[0].take(size);
    if (chunk == kNoHandle) return anew(program, event, placed);
    if (a.should_split(a.chunks_[chunk].size, size)) {
      a.insert<true>(a.chunks_.split(chunk, size));
    }
    Piece& taken = a.chunks_[chunk];
    a.hand_out(taken, requested);
    placed = {taken.address, taken.size, chunk};
    return Service::at_once;
  }
  [[gnu::always_inline]] void free(const Program&, std::uint64_t, Handle chunk) {
    Allocator& a = allocator;
    Piece& piece = a.chunks_[chunk];
    piece.in_use = false;
    a.statistics_.bytes_in_use -= piece.size;
    a.insert<true>(a.coalesce<true>(chunk, false));
  }
  void request_free(Handle) {}
  void complete_free(Handle chunk) { allocator.free(chunk, {}); }
  FreeSpace free_space() const { return allocator.free_space(); }
  [[gnu::always_inline]] void prefetch(const Program& program, std::uint64_t event,
                                       const Placement* blocks) const {
    if constexpr (!kHints) return;
    hint_at_frees(program, event, blocks, allocator.chunks_.data(), [](const Piece& chunk) {
      return std::pair(or_first(chunk.below), or_first(chunk.above));
    });
  }

 private:
  /// By all rules.
  [[gnu::noinline]] Service anew(const Program& program, std::uint64_t event, Placement& placed) {
    const auto placement = allocator.allocate(program.request(event));
    if (!placement) return Service::refused;
    placed = *placement;
    return Service::served;
  }
};

bool Allocator::is_plain() const {
  return !options_.spatial && !options_.timestamped && queue_.empty() && gap_ == kNoHandle &&
         !options_.lower.descending && !options_.lower.exact;
}

StopPoint Allocator::play(const Stretch& stretch) {
  if (!is_plain() || !stretch.program.freed_before.empty()) return StrategyOn::play(stretch);
  chunks_.reserve(stretch.blocks.size() * 2);  // between two that live one may be free
  if (chunks_.count() <= kFewRecords) return play_directly(Player<false>{*this}, stretch);
  return play_directly(Player<true>{*this}, stretch);
}

}  // namespace memreplay::bfc
