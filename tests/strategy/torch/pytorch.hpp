#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "device/simulated_device.hpp"
#include "device/watch/heard_device.hpp"
#include "strategy/torch/allocator.hpp"

namespace memreplay::torch {

/// Current, peak, allocated, freed.
using Four = std::array<std::int64_t, 4>;

/// A PyTorch allocator on a simulated device; blocks have names, addresses count from the first.
class Pytorch {
 public:
  static constexpr PoolIndex kMemPool = 1;
  static constexpr PoolIndex kGraphPool = 2;

  explicit Pytorch(const std::string& conf = "", std::optional<Bytes> capacity = {},
                   const char* version = "", SimulatedDeviceOptions options = {})
      : release_(parse_release(version)) {
    options.capacity = capacity;
    device_ = std::make_unique<SimulatedDevice>(options);
    heard_ = std::make_unique<HeardDevice>(*device_, log_);
    allocator_ = std::make_unique<Allocator>(*heard_, read(conf), release_,
                                             std::vector<PoolId>{{0, 0}, {0, 1}, {1, 0}});
  }

  /// The place of the block from 2^44 on; -1 when it was refused.
  std::int64_t alloc(char name, Bytes size, StreamIndex stream = 0, PoolIndex pool = 0) {
    const auto placement = allocator_->allocate({size, 0, stream, pool});
    if (!placement) return -1;
    blocks_[name] = *placement;
    return static_cast<std::int64_t>(placement->address - (Address{1} << 44));
  }
  void free(char name) { allocator_->free(blocks_.at(name).handle, {}); }
  void request_free(char name) { allocator_->request_free(blocks_.at(name).handle); }
  void complete_free(char name) { allocator_->complete_free(blocks_.at(name).handle); }
  void empty_cache() { allocator_->empty_cache(); }
  /// Nobody holds the pool any more; the end of a MemPool returns its cache at once.
  void release_pool(PoolIndex pool, PoolCache cache = PoolCache::kept) {
    allocator_->release_pool(pool, cache);
  }
  /// The program passes another configuration string.
  void set(const std::string& conf) { allocator_->change_settings(read(conf)); }
  /// Allocates and frees: a search of the pool that leaves all as it was, once there is a block.
  void search(Bytes size, StreamIndex stream = 0, PoolIndex pool = 0) {
    alloc('~', size, stream, pool);
    free('~');
  }
  /// A recorded segment; its blocks in use get the names, in order. Far from all else.
  void adopt(SegmentInfo segment, const std::string& names) {
    segment.address = kRecorded;
    for (BlockInfo& block : segment.blocks) {
      block.address = segment.address + segment.size;
      segment.size += block.size;
      if (block.state == BlockState::free) continue;
      block.requested = block.size;
      block.slot = static_cast<Slot>(blocks_.size());
      blocks_[names[block.slot]] = {block.address, block.size, kNoHandle};
    }
    heard_->adopt(segment.address, segment.size, segment.expandable);
    std::vector<Handle> handles(blocks_.size(), kNoHandle);
    allocator_->adopt({.segments = {segment}}, handles);
    for (std::size_t i = 0; i < handles.size(); ++i) blocks_.at(names[i]).handle = handles[i];
  }

  const Allocator& allocator() const { return *allocator_; }
  Bytes charged(char name) const { return blocks_.at(name).size; }
  std::optional<std::int64_t> find_stat(const std::string& key) const {
    const Testimony testimony = allocator_->testimony();
    for (const auto& [name, value] : testimony.counters) {
      if (name == key) return value;
    }
    return std::nullopt;
  }
  std::int64_t stat(const std::string& key) const {
    const auto value = find_stat(key);
    if (!value) ADD_FAILURE() << "no counter " << key;
    return value.value_or(0);
  }
  Four stats(const std::string& key) const {
    return {stat(key + ".current"), stat(key + ".peak"), stat(key + ".allocated"),
            stat(key + ".freed")};
  }
  Bytes held() const { return device_->usage().held; }
  /// The granted calls to the device since the last look, in MiB: "+20 -2 map40 unmap20".
  std::string calls() {
    std::string text;
    for (; seen_ < log_.events().size(); ++seen_) {
      const DeviceEvent& event = log_.events()[seen_];
      const char* name = event.op == Op::segment_alloc  ? "+"
                         : event.op == Op::segment_free ? "-"
                         : event.op == Op::segment_map  ? "map"
                                                        : "unmap";
      text += fmt::format("{}{}{}", text.empty() ? "" : " ", name, event.bytes / kMiB);
    }
    return text;
  }
  /// Where the segments that went back to the device began, in the order of their going.
  std::vector<std::int64_t> places_given_back() const {
    std::vector<std::int64_t> places;
    for (const DeviceEvent& event : log_.events()) {
      if (event.op != Op::segment_free) continue;
      places.push_back(static_cast<std::int64_t>(event.address - (Address{1} << 44)));
    }
    return places;
  }
  /// The blocks of all segments in MiB by address, free ones in brackets, pending ones with '?':
  /// "1 [1]|9 11?".
  std::string blocks() const {
    std::string text;
    for (const SegmentInfo& segment : allocator_->memory_state().segments) {
      if (!text.empty()) text += '|';
      for (const BlockInfo& block : segment.blocks) {
        const double size = static_cast<double>(block.size) / kMiB;
        if (!text.empty() && text.back() != '|') text += ' ';
        text += block.state == BlockState::free      ? fmt::format("[{}]", size)
                : block.state == BlockState::pending ? fmt::format("{}?", size)
                                                     : fmt::format("{}", size);
      }
    }
    return text;
  }

 private:
  static constexpr Address kRecorded = 0x7f0000000000;

  Settings read(const std::string& conf) const {
    SettingIssues issues;
    const Settings settings = read_conf(conf, release_, issues);
    EXPECT_TRUE(issues.empty()) << conf;
    return settings;
  }

  Release release_;
  std::unique_ptr<SimulatedDevice> device_;
  DeviceLog log_;
  std::unique_ptr<HeardDevice> heard_;
  std::unique_ptr<Allocator> allocator_;
  std::map<char, Placement> blocks_;
  std::size_t seen_ = 0;
};

}  // namespace memreplay::torch
