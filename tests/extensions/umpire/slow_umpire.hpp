#pragma once

#include <algorithm>
#include <map>

#include "extensions/umpire/umpire_pool.hpp"
#include "strategy/strategy_against_model.hpp"
#include "support/slow_device.hpp"

namespace memreplay {

/// Either pool of Umpire with all its pieces in one list by address. It calls itself as the
/// original does, so its options must not be such that this never ends; nor percents whose
/// threshold rounds.
class SlowUmpire final : public SlowModel {
 public:
  SlowUmpire(const UmpireOptions& options, std::optional<Bytes> capacity)
      : options_(options), device_{.capacity = capacity} {}

  std::optional<Bytes> allocate(const Request& request) override {
    const auto at = take(up(request.size));
    if (at) requested_[*at] = request.size;
    return at;
  }
  void free(Bytes address, const FreeOrigin&) override {
    requested_.erase(address);
    give(address, true);
  }
  void empty_cache() override { release(); }
  std::optional<Bytes> reserved() const override { return device_.held; }

 private:
  struct Piece {
    Bytes size = 0;
    Bytes block = 0;       ///< where it begins
    Bytes block_size = 0;  ///< without the surplus
    int freed = 0;         ///< when; 0: in use

    bool is_whole() const { return freed != 0 && size == block_size; }
  };

  bool quick() const { return options_.kind == UmpireKind::quick_pool; }
  Bytes up(Bytes size) const {
    return (size + options_.align - 1) / options_.align * options_.align;
  }
  template <typename Which>
  Bytes sum(const Which& which) const {
    Bytes total = 0;
    for (const auto& [at, piece] : pieces_) total += which(piece) ? piece.size : 0;
    return total;
  }
  template <typename Which>
  std::ptrdiff_t count(const Which& which) const {
    return std::count_if(pieces_.begin(), pieces_.end(),
                         [&](const auto& piece) { return which(piece.second); });
  }
  Bytes actual() const {
    return sum([](const Piece&) { return true; });
  }
  static bool whole(const Piece& piece) { return piece.is_whole(); }

  std::optional<Bytes> take(Bytes size) {
    auto best = pieces_.end();
    for (auto at = pieces_.begin(); at != pieces_.end(); ++at) {
      if (at->second.freed == 0 || at->second.size < size) continue;
      const bool better = best == pieces_.end() || at->second.size < best->second.size ||
                          (quick() && at->second.size == best->second.size &&
                           at->second.freed < best->second.freed);
      if (better) best = at;
    }
    if (best == pieces_.end()) {
      const Bytes block = std::max(size, pieces_.empty() ? options_.first : options_.next);
      auto at = device_.obtain(block + options_.align);
      if (!at) {
        release();
        at = device_.obtain(block + options_.align);
      }
      if (!at) return std::nullopt;
      best = pieces_.emplace(*at, Piece{block, *at, block, ++time_}).first;
    }
    Piece& piece = best->second;
    if (piece.size > size) {
      pieces_[best->first + size] = {piece.size - size, piece.block, piece.block_size, ++time_};
    }
    piece.size = size;
    piece.freed = 0;
    peak_ = std::max(peak_, sum([](const Piece& any) { return any.freed == 0; }));
    return best->first;
  }

  void give(Bytes address, bool then_coalesce) {
    auto piece = pieces_.find(address);
    const auto joins = [&](auto other) {
      return other != pieces_.end() && other->second.freed != 0 &&
             other->second.block == piece->second.block;
    };
    if (const auto above = std::next(piece); joins(above)) {
      piece->second.size += above->second.size;
      pieces_.erase(above);
    }
    if (piece != pieces_.begin() && joins(std::prev(piece))) {
      const auto below = std::prev(piece);
      below->second.size += piece->second.size;
      pieces_.erase(piece);
      piece = below;
    }
    piece->second.freed = ++time_;
    if (then_coalesce) coalesce();
  }

  bool should_coalesce() const {
    if (options_.counts_blocks) return count(whole) >= static_cast<int>(options_.value);
    if (options_.value == 0) return false;
    if (options_.value == 100) return quick() ? actual() == sum(whole) : requested_.empty();
    return 100 * sum(whole) >= options_.value * actual();
  }

  void coalesce() {
    if (!should_coalesce()) return;
    const Bytes target = options_.to_peak ? peak_ : actual();
    const auto all_free = [](const Piece& piece) { return piece.freed != 0; };
    if ((quick() ? count(all_free) : count(whole)) <= 1) return;
    release();
    if (actual() >= target) return;
    if (const auto at = take(up(target - actual()))) give(*at, quick());
  }

  void release() {
    for (auto at = pieces_.begin(); at != pieces_.end();) {
      if (at->second.is_whole()) {
        device_.give_back_at(at->first);
        at = pieces_.erase(at);
      } else {
        ++at;
      }
    }
  }

  UmpireOptions options_;
  SlowDevice device_;
  std::map<Bytes, Piece> pieces_;
  std::map<Bytes, Bytes> requested_;
  Bytes peak_ = 0;
  int time_ = 0;
};

}  // namespace memreplay
