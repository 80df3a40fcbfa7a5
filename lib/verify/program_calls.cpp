#include <fmt/format.h>

#include <algorithm>

#include "verify/verification.hpp"

// What the program did between its requests, found by trying it on copies of the model.
namespace memreplay {

// What was released shows which private pools were given up before. One in use is not.
void Verification::release_pools(Model& model, std::span<const ScriptEntry> script,
                                 std::size_t event, PoolIndex in_use) {
  for (const ScriptEntry& entry : script) {
    if (entry.pool == 0 || entry.pool == in_use || !returns_memory(entry.op)) continue;
    if (model.allocator->freeable(entry.pool)) continue;
    result_.reading.calls.push_back({event, ProgramCall::Kind::release_pool, entry.pool});
    model.allocator->release_pool(entry.pool, PoolCache::kept);
  }
}

// The end of a MemPool empties only its own.
bool Verification::empty_cache(Model& model, std::span<const ScriptEntry> script,
                               std::size_t event) {
  using Kind = ProgramCall::Kind;
  std::vector<ProgramCall>& calls = result_.reading.calls;
  const std::size_t before = calls.size();
  const auto note = [&](Kind kind, PoolIndex pool) { calls.push_back({event, kind, pool}); };
  release_pools(model, script, event, 0);
  const std::size_t released = calls.size();
  Model all = model.fork();
  all.device->play(script);
  all.allocator->empty_cache();
  if (!all.device->contradiction() && all.device->rest().empty()) {
    note(Kind::empty_cache, 0);
    model = std::move(all);
    return true;
  }
  model.device->play(script);
  calls.resize(released);
  while (!model.device->rest().empty()) {
    const std::size_t rest = model.device->rest().size();
    const PoolIndex pool = model.device->rest().front().pool;
    note(pool != 0 ? Kind::end_pool : Kind::empty_cache, pool);
    if (pool != 0) {
      model.allocator->release_pool(pool, PoolCache::returned);
    } else {
      model.allocator->empty_cache();
    }
    if (model.device->rest().size() == rest) break;
  }
  if (!model.device->contradiction() && model.device->rest().empty()) return true;
  calls.resize(before);
  return false;
}

// Where a call of empty_cache leaves no entry, since nothing is pending and nothing can be
// released.
void Verification::empty_cache_without_effect(std::size_t event) {
  const torch::Statistics& before = model_.allocator->statistics();
  if (before.blocks.pending_now() != 0) return;
  Model model = model_.fork();
  model.device->play({});
  model.allocator->empty_cache();
  if (model.device->contradiction()) return;
  result_.reading.calls.push_back({event, ProgramCall::Kind::empty_cache, 0});
  model_ = std::move(model);
}

bool Verification::settings_may_change(const Group& group) const {
  const auto& events = assumptions_.settings_may_change;
  const auto event = std::ranges::lower_bound(events, group.from);
  return event != events.end() && *event < group.to;
}

/// What the program may have passed before the group, as far as its effect shows.
std::vector<SettingsCall> Verification::other_settings(const Group& group) const {
  const torch::Settings now = model_.allocator->settings();
  const std::uint64_t event = group.to - 1;
  std::vector<SettingsCall> others;
  const auto add = [&](std::string conf, auto change) {
    torch::Settings other = now;
    change(other);
    if (other != now) others.push_back({event, std::move(other), std::move(conf)});
  };
  add("what held at first", [&](torch::Settings& s) { s = settings_; });
  add(now.expandable_segments ? "expandable_segments:False" : "expandable_segments:True",
      [](torch::Settings& s) { s.expandable_segments = !s.expandable_segments; });
  add("no max_split_size_mb", [](torch::Settings& s) { s.max_split_size = torch::kUnlimited; });
  add("no roundup_power2_divisions",
      [](torch::Settings& s) { s.roundup_power2_divisions.fill(0); });
  add("no garbage_collection_threshold",
      [](torch::Settings& s) { s.garbage_collection_threshold = 0; });
  if (!group.ends_in_request) return others;
  // The model takes a free block that the recorded allocator left: the limit is no larger.
  for (const SegmentInfo& segment : model_.allocator->memory_state().segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.address != misplaced_at_ || block.state != BlockState::free) continue;
      const Bytes limit = block.size / kMiB * kMiB;
      if (limit <= torch::kLargeBuffer || limit >= now.max_split_size) continue;
      add(fmt::format("max_split_size_mb:{} or less", limit / kMiB),
          [&](torch::Settings& s) { s.max_split_size = limit; });
    }
  }
  for (const std::uint32_t divisions : {1, 2, 4, 8, 16}) {
    add(fmt::format("roundup_power2_divisions:{}", divisions),
        [&](torch::Settings& s) { s.roundup_power2_divisions.fill(divisions); });
  }
  for (std::size_t i = group.tail; i < group.to; ++i) {
    const Bytes size = trace_.sizes[i];
    if (trace_.ops[i] != Op::segment_alloc || size < torch::kLargeBuffer || size % kMiB != 0) {
      continue;
    }
    add(fmt::format("large_segment_size_mb:{}", size / kMiB),
        [&](torch::Settings& s) { s.large_segment_size = size; });
  }
  return others;
}

bool Verification::explain_by_other_settings(const Group& group) {
  const std::optional<Divergence> problem = problem_;
  for (SettingsCall& other : other_settings(group)) {
    Model model = model_.fork();
    model.allocator->change_settings(other.settings);
    if (!explain_tail(group, model)) continue;
    result_.reading.settings_calls.push_back(std::move(other));
    return true;
  }
  problem_ = problem;
  return false;
}

}  // namespace memreplay
