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

bool Verification::explain_by_other_settings(const Group& group) {
  const torch::Settings now = model_.allocator->settings();
  std::vector<torch::Settings> others(5, now);
  others[0] = settings_;
  others[1].expandable_segments = !now.expandable_segments;
  others[2].max_split_size = torch::kUnlimited;
  others[3].roundup_power2_divisions.fill(0);
  others[4].garbage_collection_threshold = 0;
  const std::optional<Divergence> problem = problem_;
  for (const torch::Settings& other : others) {
    if (other == now) continue;
    Model model = model_.fork();
    model.allocator->change_settings(other);
    if (!explain_tail(group, model)) continue;
    result_.reading.settings_changes.push_back(group.to - 1);
    return true;
  }
  problem_ = problem;
  return false;
}

}  // namespace memreplay
