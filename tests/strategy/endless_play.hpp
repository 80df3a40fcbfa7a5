#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "device/simulated_device.hpp"
#include "device/watch/ledger.hpp"
#include "strategy/registry.hpp"

namespace memreplay {

/// What a random program holds, and on which device.
struct Load {
  std::size_t live_blocks;             ///< at most
  double smallest_log2, largest_log2;  ///< sizes, whose logarithms are evenly spread
  std::optional<Bytes> capacity = {};  ///< unset: endless
};

/// One strategy under the ledger, played with all that a program may ask of it, at random: streams,
/// threads and private pools, alignments, frees that streams delay, more than the device has, the
/// ends of steps and pools, empty caches. Memory and time do not grow with the number of
/// operations.
class EndlessPlay {
 public:
  /// A strategy that wants a plan gets one that fits half of the requests.
  EndlessPlay(const std::string& spec, const Load& load, std::uint64_t seed);

  /// Throws AuditError, or std::logic_error where the strategy's own account is wrong.
  void play(std::uint64_t operations);
  /// Frees what is live.
  void end();

 private:
  struct Live {
    Placement placement;
    FreeOrigin giver;
    bool gone = false;  ///< not on the device: moved out, or completed by waiting for streams
  };

  void one_operation();
  void something_rare();
  void ask();
  void free_some();
  void free(const Live& block);
  void complete_some();
  void note_what_happened();
  void check() const;
  [[noreturn]] void fail(std::string_view what) const;

  Request some_request();
  Bytes some_size();
  bool one_in(std::uint64_t n) { return random_() % n == 0; }
  static Live take(std::vector<Live>& blocks, std::size_t victim);
  /// The block is free, or no longer on the device.
  void leave(const Live& block);
  void lose(Live& block);

  std::string spec_;
  Load load_;
  std::mt19937_64 random_;
  std::shared_ptr<const Plan> plan_;
  RecordedSettings settings_;
  Ledger ledger_;
  SimulatedDevice simulated_;
  HeardDevice audited_;
  std::unique_ptr<Strategy> strategy_;
  Abilities abilities_;
  std::vector<Live> live_;
  std::vector<Live> pending_;  ///< their free is requested
  std::size_t wanted_live_ = 0;
  Bytes allocated_ = 0;
  std::uint64_t event_ = 0;
  std::uint64_t frees_ = 0;
  std::uint64_t syncs_ = 0;
  std::size_t next_planned_ = 0;
};

}  // namespace memreplay
