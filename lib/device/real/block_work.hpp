#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "device/real/real_device.hpp"
#include "device/watch/ledger.hpp"
#include "device/watch/watcher.hpp"

namespace memreplay {

/// Does with each block what a program would: writes it on its stream when it is placed, compares
/// it when it is freed, and orders streams as the trace does. O(streams) per block that is touched.
class BlockWork final : public Watcher {
 public:
  /// `strategy` is for messages; `device` and `memory` outlive this.
  BlockWork(RealDevice& device, RealMemory& memory, Touch touch, std::string_view strategy);
  ~BlockWork() override;
  BlockWork(const BlockWork&) = delete;
  BlockWork& operator=(const BlockWork&) = delete;

  // A block that is not as it was filled throws AuditError, at the latest in `finish`.
  void placed(std::uint64_t event, const Request& request, const Placement& placement) override;
  void free_requested(std::uint64_t event, const Placement& placement) override;
  void freed(std::uint64_t event, const Placement& placement) override;
  void moved_out(const Placement& placement) override;
  void moved(const Placement& from, const Placement& to) override;
  void synchronised() override;
  void stream_waited(StreamIndex stream, std::uint64_t times) override;

  /// At the end: compares the blocks that still live, and waits for everything.
  void finish();
  const TouchedBlocks& touched() const { return touched_; }

 private:
  struct Block {
    std::uint64_t tag = 0;  ///< 0: nothing was written
    Address address = 0;
    Bytes size = 0;  ///< as requested
    StreamIndex stream = 0;
    std::uint64_t placed = 0;                  ///< event
    std::optional<Execution::Point> last_use;  ///< its free was requested
  };
  struct Checked {
    std::uint64_t tag = 0;
    std::uint64_t placed = 0;  ///< event
    std::uint64_t freed = 0;
  };

  std::size_t lane_of(StreamIndex stream);
  void follow_other_streams(StreamIndex stream);
  void check(Block& block);
  void check_what_lies_in(Address at, Bytes size);
  void forget_last_use(Handle handle);
  void look_at_mismatches();

  RealDevice& device_;
  RealMemory& memory_;
  Execution& work_;
  Touch touch_;
  std::string strategy_;
  std::uint64_t event_ = 0;
  std::uint64_t tags_ = 0;
  std::vector<Block> blocks_;          ///< by handle
  std::map<Address, Handle> written_;  ///< blocks that are not compared yet
  std::set<Handle> pending_;
  std::vector<Checked> checked_;    ///< since the mismatches were looked at
  std::vector<StreamIndex> lanes_;  ///< one trace stream for each real one
  std::vector<std::vector<std::uint64_t>>
      seen_;                           ///< by lane: how many checks of each lane it follows
  std::vector<std::uint64_t> checks_;  ///< by lane
  TouchedBlocks touched_;
};

}  // namespace memreplay
