#include "replay/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "replay/scripted_device.hpp"
#include "strategy/torch/allocator.hpp"

namespace memreplay {
namespace {

using torch::Allocator;
using torch::Release;

constexpr Bytes kAssumedTotal = kTiB;  // the recording does not say how large the device is

// The model and its device, which can be tried out and thrown away.
struct Model {
  std::unique_ptr<ScriptedDevice> device;
  std::unique_ptr<Allocator> allocator;

  Model fork() const {
    Model copy{std::make_unique<ScriptedDevice>(*device), nullptr};
    copy.allocator = allocator->copy(*copy.device);
    return copy;
  }
};

// The events between two requests, and the request that ends them.
struct Group {
  std::size_t from = 0;
  std::size_t to = 0;  ///< one behind the request, or the end of the trace
  bool has_driver_events = false;
};

class Verification {
 public:
  Verification(const Recording& recording, const Trace& trace, const Release& release)
      : trace_(trace), handles_(trace.slot_count, kNoHandle) {
    result_.gpu = trace.gpu;
    result_.torch_version = release.text();
    model_.device = std::make_unique<ScriptedDevice>(kAssumedTotal);
    model_.allocator = torch::make_allocator(
        torch::settings_of(recording.settings, release), release,
        {.device = *model_.device, .capacity = {}, .torch_version = {}, .pools = trace.pools});
    model_.allocator->adopt(trace.start, handles_);
    for (std::size_t i = 0; i < trace.size(); ++i) {
      result_.allocs += trace.ops[i] == Op::allocate;
      result_.segment_events += is_driver_event(trace.ops[i]);
    }
  }

  VerifyResult run() {
    result_.verdict = Verdict::exact;
    std::size_t at = 0;
    while (at < trace_.size() && !result_.first_divergence) {
      const Group group = next_group(at);
      if (group.has_driver_events) {
        play_with_driver(group);
      } else {
        for (std::size_t i = group.from; i < group.to && !result_.first_divergence; ++i) {
          step(model_, handles_, i, {});
        }
        note_matched(group);
      }
      at = group.to;
    }
    if (result_.first_divergence) result_.verdict = Verdict::diverged;
    return std::move(result_);
  }

 private:
  bool is_request(std::size_t i) const {
    return trace_.ops[i] == Op::allocate || trace_.ops[i] == Op::oom;
  }

  Group next_group(std::size_t from) const {
    Group group{from, from, false};
    while (group.to < trace_.size()) {
      group.has_driver_events |= is_driver_event(trace_.ops[group.to]);
      if (is_request(group.to++)) break;
    }
    return group;
  }

  void note_matched(const Group& group) {
    if (result_.first_divergence) return;
    for (std::size_t i = group.from; i < group.to; ++i) {
      result_.allocs_matched += trace_.ops[i] == Op::allocate;
      result_.segment_events_matched += is_driver_event(trace_.ops[i]);
    }
  }

  void diverge(std::size_t event, std::string expected, std::string got, std::string why) {
    result_.first_divergence = {event, std::move(expected), std::move(got), std::move(why)};
  }

  // Plays one event on a model; the script is what the driver grants to a request.
  // False where the outcome is not the recorded one.
  bool step(Model& model, std::vector<Handle>& handles, std::size_t i,
            std::span<const ScriptEntry> script) {
    const Slot slot = trace_.slots[i];
    switch (trace_.ops[i]) {
      case Op::free:
        model.allocator->free(handles[slot]);
        return true;
      case Op::free_requested:
        model.allocator->request_free(handles[slot]);
        return true;
      case Op::free_completed:
        model.allocator->complete_free(handles[slot]);
        return true;
      case Op::allocate:
      case Op::oom:
        return request(model, handles, i, script);
      default:
        return true;
    }
  }

  bool request(Model& model, std::vector<Handle>& handles, std::size_t i,
               std::span<const ScriptEntry> script) {
    const bool refused = trace_.ops[i] == Op::oom;
    const Lane lane = trace_.lane(i);
    model.device->play(script);
    const auto placement = model.allocator->allocate({trace_.sizes[i], 0, lane.stream, lane.pool});
    const std::string expected =
        refused ? "out of memory" : fmt::format("0x{:x}", trace_.addresses[i]);
    const std::string got = placement ? fmt::format("0x{:x}", placement->address) : "out of memory";
    if (!model.device->contradiction().empty() || !model.device->rest().empty() ||
        expected != got) {
      if (!result_.first_divergence) {
        diverge(i, expected, got, explain(model, script));
      }
      return false;
    }
    if (placement) handles[trace_.slots[i]] = placement->handle;
    return true;
  }

  std::string explain(const Model& model, std::span<const ScriptEntry> script) const {
    if (!model.device->contradiction().empty()) {
      return fmt::format("the model asks for {}, which the recording does not have",
                         model.device->contradiction());
    }
    if (!model.device->rest().empty()) {
      return fmt::format("{} of {} recorded segment events are not the model's",
                         model.device->rest().size(), script.size());
    }
    return "the model chooses another place";
  }

  void play_with_driver(const Group& group);
  std::vector<ScriptEntry> script_of(std::size_t from, std::size_t to) const;
  bool empty_cache(Model& model, std::span<const ScriptEntry> script);
  bool try_tail(const Group& group, std::size_t tail, std::size_t early, std::size_t emptied);

  const Trace& trace_;
  Model model_;
  std::vector<Handle> handles_;  ///< by slot
  VerifyResult result_;
};

std::vector<ScriptEntry> Verification::script_of(std::size_t from, std::size_t to) const {
  std::vector<ScriptEntry> script;
  for (std::size_t i = from; i < to; ++i) {
    if (is_driver_event(trace_.ops[i])) {
      script.push_back({trace_.ops[i], trace_.addresses[i], trace_.sizes[i], trace_.lane(i).pool});
    }
  }
  return script;
}

// What an empty_cache released shows which private pools were given up before it. The end of a
// MemPool empties only its own.
bool Verification::empty_cache(Model& model, std::span<const ScriptEntry> script) {
  const auto as_recorded = [&](Model& tried) {
    return tried.device->contradiction().empty() && tried.device->rest().empty();
  };
  for (const ScriptEntry& entry : script) {
    if (entry.pool != 0) model.allocator->release_pool(entry.pool);
  }
  Model all = model.fork();
  all.device->play(script);
  all.allocator->empty_cache();
  if (as_recorded(all)) {
    model = std::move(all);
    return true;
  }
  model.device->play(script);
  while (!model.device->rest().empty()) {
    const std::size_t before = model.device->rest().size();
    const PoolIndex pool = model.device->rest().front().pool;
    if (pool != 0) {
      model.allocator->empty_cache_of(pool);
    } else {
      model.allocator->empty_cache();
    }
    if (model.device->rest().size() == before) return false;
  }
  return as_recorded(model);
}

// The tail of a group belongs to one call of malloc, perhaps after an empty_cache. `early` of its
// completions are noticed at the start, the others by the synchronisation inside; the first
// `emptied` driver events are those of an empty_cache.
bool Verification::try_tail(const Group& group, std::size_t tail, std::size_t early,
                            std::size_t emptied) {
  Model model = model_.fork();
  std::vector<Handle> handles = handles_;
  const std::vector<ScriptEntry> script = script_of(tail, group.to);
  const std::span<const ScriptEntry> all(script);
  const std::size_t last = group.to - 1;
  const bool ends_in_request = tail < group.to && is_request(last);
  std::vector<std::size_t> late;
  for (std::size_t i = tail; i < group.to; ++i) {
    if (trace_.ops[i] != Op::free_completed) continue;
    if (early > 0) {
      --early;
      step(model, handles, i, {});
    } else {
      late.push_back(i);
    }
  }
  if (emptied > 0 && !empty_cache(model, all.first(emptied))) return false;
  if (ends_in_request && !step(model, handles, last, all.subspan(emptied))) return false;
  for (const std::size_t i : late) step(model, handles, i, {});
  model_ = std::move(model);
  handles_ = std::move(handles);
  return true;
}

void Verification::play_with_driver(const Group& group) {
  // Up to the last thing that the program did itself, releases are those of empty_cache calls.
  std::size_t tail = group.from;
  for (std::size_t i = group.from; i < group.to; ++i) {
    const Op op = trace_.ops[i];
    if (op != Op::free && op != Op::free_requested) continue;
    const bool at_once = op == Op::free_requested && i + 1 < group.to &&
                         trace_.ops[i + 1] == Op::free_completed &&
                         trace_.slots[i + 1] == trace_.slots[i];
    tail = i + (at_once ? 2 : 1);
  }
  std::size_t i = group.from;
  while (i < tail) {
    std::size_t end = i;
    while (end < tail && is_driver_event(trace_.ops[end])) ++end;
    if (end == i) {
      step(model_, handles_, i++, {});
      continue;
    }
    if (!empty_cache(model_, script_of(i, end))) {
      return diverge(i, fmt::format("{} segment events of an empty_cache", end - i),
                     model_.device->contradiction(), "the model releases other segments");
    }
    i = end;
  }
  const auto count = [&](auto matches) {
    return static_cast<std::size_t>(
        std::count_if(trace_.ops.begin() + static_cast<std::ptrdiff_t>(tail),
                      trace_.ops.begin() + static_cast<std::ptrdiff_t>(group.to), matches));
  };
  const std::size_t completions = count([](Op op) { return op == Op::free_completed; });
  const std::vector<ScriptEntry> script = script_of(tail, group.to);
  std::size_t releases = 0;
  while (releases < script.size() &&
         (script[releases].op == Op::segment_free || script[releases].op == Op::segment_unmap)) {
    ++releases;
  }
  std::optional<Divergence> first_reason;
  const auto attempt = [&](std::size_t early, std::size_t emptied) {
    if (try_tail(group, tail, early, emptied)) {
      result_.first_divergence.reset();
      return true;
    }
    if (!first_reason) first_reason = result_.first_divergence;
    result_.first_divergence.reset();
    return false;
  };
  const bool ends_in_request = tail < group.to && is_request(group.to - 1);
  bool explained = script.empty() && !ends_in_request && try_tail(group, tail, completions, 0);
  if (ends_in_request) {
    for (std::size_t early = completions + 1; early-- > 0 && !explained;) {
      explained = attempt(early, 0);
      if (releases == 0) break;
    }
  }
  for (std::size_t emptied = releases; emptied > 0 && !explained; --emptied) {
    explained = attempt(completions, emptied);
    if (!ends_in_request) break;
  }
  if (explained) return note_matched(group);
  if (!first_reason) {
    first_reason = {tail, "the recorded segment releases", "others", "no call explains them"};
  }
  result_.first_divergence = std::move(first_reason);
}

// The rules to try: what the recording shows bounds its release from below only.
std::vector<Release> candidates(const Recording& recording, const std::string& torch_version) {
  if (!torch_version.empty()) return {torch::parse_release(torch_version)};
  const Release oldest = recording.settings.oldest_release.empty()
                             ? torch::kNewestRelease
                             : torch::parse_release(recording.settings.oldest_release);
  std::vector<Release> releases;
  for (const Release& release : {Release{2, 11, 0}, torch::kNewestRelease, Release{2, 12, 0}}) {
    if (release.has(oldest.minor)) releases.push_back(release);
  }
  if (!oldest.has(11)) releases.front() = oldest;
  return releases;
}

std::string why_unsupported(const Trace& trace) {
  if (trace.addresses.empty()) return "not a recording of PyTorch's allocator";
  if (std::ranges::find(trace.ops, Op::allocate) == trace.ops.end()) {
    return "no allocation in its history";
  }
  if (std::ranges::none_of(trace.ops,
                           [](Op op) { return op == Op::free_completed || op == Op::free; }) &&
      std::ranges::find(trace.ops, Op::free_requested) != trace.ops.end()) {
    return "its history lacks free_completed";
  }
  return {};
}

}  // namespace

VerifyResult verify(const Recording& recording, const Trace& trace,
                    const std::string& torch_version) {
  VerifyResult best;
  best.gpu = trace.gpu;
  best.reason = why_unsupported(trace);
  if (!best.reason.empty()) return best;
  for (const Release& release : candidates(recording, torch_version)) {
    VerifyResult result = Verification(recording, trace, release).run();
    if (result.verdict == Verdict::exact) return result;
    if (best.verdict == Verdict::unsupported || result.allocs_matched > best.allocs_matched) {
      best = std::move(result);
    }
  }
  return best;
}

}  // namespace memreplay
