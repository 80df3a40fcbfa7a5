#pragma once

#include <cstdint>

#include "strategy/registry.hpp"

namespace memreplay {

/// When the work that used a freed block is over, where a recording does not say. Time counts the
/// requests and frees that the strategy has seen.
class Completion {
 public:
  /// The option `completion`: immediate | never | lag:N.
  static Completion from(const StrategySpec&);
  static OptionInfo option() {
    return {"completion", "immediate|never|lag:N", "immediate",
            "When the work on a freed block is over: N requests and frees after its free."};
  }

  /// A request or free begins; its time.
  std::uint64_t tick() { return ++now_; }
  std::uint64_t now() const { return now_; }
  /// Is the work over on a block that was freed at that time?
  bool done(std::uint64_t freed) const {
    return freed <= waited_for_ || (lag_ != kNever && now_ - freed >= lag_);
  }
  /// The host waits for the device.
  void synchronise() { waited_for_ = now_; }

 private:
  static constexpr std::uint64_t kNever = UINT64_MAX;

  std::uint64_t lag_ = 0;
  std::uint64_t now_ = 0;
  std::uint64_t waited_for_ = 0;  ///< all frees up to then are done
};

}  // namespace memreplay
