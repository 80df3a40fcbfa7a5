#include "replay/sharing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "verify/subject.hpp"

namespace memreplay {
namespace {

/// What an empty_cache would return: segments without a block.
Bytes cached_bytes(const Strategy& strategy) {
  Bytes bytes = 0;
  for (const SegmentInfo& segment : strategy.memory_state().segments) {
    const bool unused = std::ranges::all_of(
        segment.blocks, [](const BlockInfo& block) { return block.state == BlockState::free; });
    if (unused) bytes += segment.size;
  }
  return bytes;
}

/// The allocator of one process.
struct Process {
  const Sharer* sharer = nullptr;
  std::string spec;
  std::unique_ptr<Strategy> strategy;
  Abilities abilities = {};
  Bytes held = 0;
  Bytes peak_held = 0;
  std::uint64_t refused = 0;
};

class Sharing final : public Strategy, public PrivatePools {
  /// What the device holds more, or less, at its end is the process's.
  struct Charged {
    Process& process;
    const DeviceModel& device;
    Bytes before = device.usage().held;

    ~Charged() {
      process.held += device.usage().held - before;  // modulo 2^64
      process.peak_held = std::max(process.peak_held, process.held);
    }
  };

 public:
  Sharing(const SharedDevice& shared, DeviceModel& device, std::optional<Bytes> room)
      : shared_(shared), device_(&device), room_(room) {}
  Sharing(const Sharing& other, DeviceModel& device)
      : shared_(other.shared_),
        device_(&device),
        room_(other.room_),
        blocks_(other.blocks_),
        unused_(other.unused_),
        asking_(other.asking_),
        first_refusal_(other.first_refusal_) {
    for (const Process& process : other.processes_) {
      add({process.sharer,
           process.spec,
           process.strategy->clone(device),
           {},
           process.held,
           process.peak_held,
           process.refused});
    }
  }

  std::unique_ptr<Strategy> clone(DeviceModel& device) const override {
    return std::make_unique<Sharing>(*this, device);
  }

  void add(Process process) {
    process.abilities = process.strategy->abilities();
    processes_.push_back(std::move(process));
  }

  Strategy& allocator_of(std::size_t sharer) { return *processes_[sharer].strategy; }

  std::optional<Placement> allocate(const Request& request) override {
    const std::size_t owner = owner_of(request.stream, &Sharer::first_stream);
    Process& process = processes_[owner];
    asking_ = owner;
    Request own = request;
    own.stream = static_cast<StreamIndex>(request.stream - process.sharer->first_stream);
    own.pool = static_cast<PoolIndex>(request.pool - process.sharer->first_pool);
    std::optional<Placement> placed = allocate(process, own);
    if (!placed) {
      if (process.refused++ == 0 && first_refusal_.empty()) first_refusal_ = refusal(owner, own);
      return std::nullopt;
    }
    placed->handle = number_of({owner, placed->handle});
    return placed;
  }
  void free(Handle block, FreeOrigin giver) override {
    if (giver.stream != kNoStream) {
      giver.stream = static_cast<StreamIndex>(giver.stream - owner(block).sharer->first_stream);
    }
    call(block, [&](Strategy& strategy, Handle own) { strategy.free(own, giver); });
    unused_.push_back(block);
  }
  void request_free(Handle block) override {
    call(block, [](Strategy& strategy, Handle own) { strategy.request_free(own); });
  }
  void complete_free(Handle block) override {
    call(block, [](Strategy& strategy, Handle own) { strategy.complete_free(own); });
    unused_.push_back(block);
  }
  void empty_cache() override {
    for (Process& process : processes_) empty(process);
  }
  /// The end of a process's default pool stands for an empty_cache of its own.
  void release_pool(PoolIndex pool, PoolCache cache) override {
    Process& process = processes_[owner_of(pool, &Sharer::first_pool)];
    const auto own = static_cast<PoolIndex>(pool - process.sharer->first_pool);
    if (own == 0) return empty(process);
    if (process.abilities.pools == nullptr) return;
    const Charged charged{process, *device_};
    process.abilities.pools->release_pool(own, cache);
  }

  /// The process's that asked last: what others have is not for it.
  FreeSpace free_space() const override { return processes_[asking_].strategy->free_space(); }
  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges;
    for (const Process& process : processes_) {
      std::ranges::copy(process.strategy->free_ranges(), std::back_inserter(ranges));
    }
    return ranges;
  }
  StrategyUsage usage() const override {
    StrategyUsage usage;
    for (const Process& process : processes_) usage.add(process.strategy->usage());
    return usage;
  }
  Testimony testimony() const override;
  MemoryState memory_state() const override;
  Abilities abilities() override { return {.pools = this}; }

 private:
  struct Block {
    std::size_t owner = 0;
    Handle own = kNoHandle;
  };

  /// Whose streams, or pools, begin at `first` and have this number.
  template <typename Index>
  std::size_t owner_of(Index number, Index Sharer::*first) const {
    const auto after = std::ranges::upper_bound(
        processes_, number, {}, [&](const Process& process) { return process.sharer->*first; });
    return static_cast<std::size_t>(after - processes_.begin()) - 1;
  }
  std::optional<Placement> allocate(Process& process, const Request& request) {
    const Charged charged{process, *device_};
    return process.strategy->allocate(request);
  }
  void empty(Process& process) {
    const Charged charged{process, *device_};
    process.strategy->empty_cache();
  }
  const Process& owner(Handle block) const { return processes_[blocks_[block].owner]; }

  template <typename Call>
  void call(Handle block, const Call& call) {
    const Block& its = blocks_[block];
    Process& process = processes_[its.owner];
    const Charged charged{process, *device_};
    call(*process.strategy, its.own);
  }

  Handle number_of(Block block) {
    if (unused_.empty()) {
      blocks_.push_back(block);
      return static_cast<Handle>(blocks_.size() - 1);
    }
    const Handle number = unused_.back();
    unused_.pop_back();
    blocks_[number] = block;
    return number;
  }

  std::string refusal(std::size_t owner, const Request& request) const;

  const SharedDevice& shared_;
  DeviceModel* device_;
  std::optional<Bytes> room_;  ///< what the device has for all; unset: endless
  std::vector<Process> processes_;
  std::vector<Block> blocks_;   ///< by handle
  std::vector<Handle> unused_;  ///< handles
  std::size_t asking_ = 0;      ///< the process that asked last
  std::string first_refusal_;   ///< a sentence
};

/// "b.pickle is refused first: it asks for 2 GiB while it holds 1 GiB, and 512 MiB …"
std::string Sharing::refusal(std::size_t owner, const Request& request) const {
  const Process& refused = processes_[owner];
  std::string text =
      fmt::format("{} is refused first: it requests {} while it holds {}", refused.sharer->path,
                  human_size(request.size), human_size(refused.held));
  Bytes cached = 0;
  for (const Process& other : processes_) {
    if (&other == &refused) continue;
    const Bytes unused = cached_bytes(*other.strategy);
    cached += unused;
    text += fmt::format(", and {} holds {}, {} of it unused", other.sharer->path,
                        human_size(other.held), human_size(unused));
  }
  if (!room_) return text;
  // The device is not asked what is free: that would be taken for a question of the allocator.
  const Bytes free = *room_ - std::min(*room_, device_->usage().held);
  text += fmt::format("; {} are free", human_size(free));
  if (cached == 0) return text;
  return text + (free + cached >= request.size
                     ? "; torch.cuda.empty_cache() there before would have made room"
                     : ", too little even with the unused memory there");
}

Testimony Sharing::testimony() const {
  Testimony testimony;
  std::vector<std::string> shares;
  for (const Process& process : processes_) {
    const std::uint64_t retries = process.strategy->usage().oom_retries;
    shares.push_back(fmt::format("{} ({}) holds up to {}", process.sharer->path, process.spec,
                                 human_size(process.peak_held)));
    if (retries > 0) {
      shares.back() += fmt::format(", and releases memory to try again {}",
                                   retries == 1 ? "once" : human_count(retries) + " times");
    }
  }
  testimony.remarks.push_back(fmt::format("{}; {}", fmt::join(shares, ", "), shared_.clock));
  if (!first_refusal_.empty()) testimony.remarks.push_back(first_refusal_);
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    const Process& process = processes_[i];
    const std::string prefix = fmt::format("process_{}_", i + 1);
    const auto enter = [&](std::string_view name, std::uint64_t value) {
      testimony.counters.emplace_back(prefix + std::string(name), static_cast<std::int64_t>(value));
    };
    enter("peak_held_bytes", process.peak_held);
    enter("held_bytes", process.held);
    enter("oom_retries", process.strategy->usage().oom_retries);
    enter("ooms", process.refused);
  }
  return testimony;
}

MemoryState Sharing::memory_state() const {
  MemoryState state;
  for (const Process& process : processes_) {
    for (SegmentInfo& segment : process.strategy->memory_state().segments) {
      segment.stream = static_cast<StreamIndex>(segment.stream + process.sharer->first_stream);
      segment.pool = static_cast<PoolIndex>(segment.pool + process.sharer->first_pool);
      state.segments.push_back(std::move(segment));
    }
  }
  std::ranges::sort(state.segments, {}, &SegmentInfo::address);
  return state;
}

}  // namespace

std::unique_ptr<Strategy> make_sharing(const StrategySpec& spec, const SharedDevice& shared,
                                       const StrategyContext& context, std::optional<Bytes> room) {
  auto sharing = std::make_unique<Sharing>(shared, context.device, room);
  for (const Sharer& sharer : shared.sharers) {
    const Subject& subject = *sharer.subject;
    const StrategySpec own =
        subject.with_release(spec.name == "recorded" ? usual_strategy(subject.recording()) : spec);
    if (plan_wish(own)) {
      throw UsageError(
          fmt::format("--together: strategy '{}' places a whole program; expected one that serves "
                      "it as it goes",
                      own.text));
    }
    StrategyContext its = subject.context(context.device);
    its.capacity = context.capacity;
    its.uses = context.uses;
    sharing->add({&sharer, own.text, make_strategy(own, its)});
  }
  return sharing;
}

Strategy& allocator_of(Strategy& sharing, std::size_t sharer) {
  return dynamic_cast<Sharing&>(sharing).allocator_of(sharer);
}

}  // namespace memreplay
