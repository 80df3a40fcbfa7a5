#include "verify/pinned_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "verify/scripted_device.hpp"

namespace memreplay {
namespace {

/// Makes the model decide what the recorded allocator decided. Its calls of the driver stand before
/// the request, or after the free, in which it made them; those of an `empty_cache` too.
class PinnedVerification {
 public:
  PinnedVerification(const Recording& recording, const Trace& trace)
      : trace_(trace), handles_(trace.slot_count, kNoHandle) {
    result_.gpu = trace.gpu;
    model_ = new_model(recording);
  }

  VerifyRun run() {
    for (event_ = 0; event_ < trace_.size() && !result_.first_divergence; ++event_) step();
    if (!result_.first_divergence) empty_cache();
    const bool exact = !result_.first_divergence && script_.empty();
    if (!exact && !result_.first_divergence) diverge("no more calls", text_of(script_.front()));
    for (std::size_t i = 0; i < trace_.size(); ++i) {
      result_.allocs += trace_.ops[i] == Op::allocate;
      result_.segment_events += is_driver_event(trace_.ops[i]);
    }
    result_.verdict = exact ? Verdict::exact : Verdict::diverged;
    return result_;
  }

 private:
  struct Model {
    std::unique_ptr<ScriptedDevice> device;
    std::unique_ptr<Strategy> strategy;
  };

  static Model new_model(const Recording& recording) {
    Model model{std::make_unique<ScriptedDevice>(kTiB), nullptr};
    const StrategySpec spec = pinned_strategy(recording.settings.conf);
    model.strategy = make_strategy(spec, {.device = *model.device});
    return model;
  }
  Model fork() const {
    Model copy{std::make_unique<ScriptedDevice>(*model_.device), nullptr};
    copy.strategy = model_.strategy->clone(*copy.device);
    return copy;
  }

  void step() {
    const Op op = trace_.ops[event_];
    if (is_driver_event(op)) {
      script_.push_back({op, trace_.addresses[event_], trace_.sizes[event_], 0});
    } else if (op == Op::allocate) {
      allocate();
    } else if (op == Op::free_requested) {
      model_.strategy->request_free(handles_[trace_.slots[event_]]);
    } else if (op == Op::free_completed || op == Op::free) {
      give_back(op);
    }
  }

  // A block that is too large to be kept goes back at once.
  void give_back(Op op) {
    empty_cache();
    const Handle handle = handles_[trace_.slots[event_]];
    std::vector<ScriptEntry> behind;
    for (std::size_t i = event_ + 1; i < trace_.size() && trace_.ops[i] == Op::segment_free; ++i) {
      behind.push_back({trace_.ops[i], trace_.addresses[i], trace_.sizes[i], 0});
    }
    model_.device->play(behind);
    if (op == Op::free_completed) {
      model_.strategy->complete_free(handle);
    } else {
      model_.strategy->free(handle, {});
    }
    if (model_.device->contradiction()) return diverge("the block to be kept", "it is given back");
    const std::size_t used = behind.size() - model_.device->rest().size();
    event_ += used;
    result_.segment_events_matched += used;
  }

  void allocate() {
    const bool may_be_emptied = !script_.empty() && script_.front().op == Op::segment_free;
    std::optional<Model> before;
    if (may_be_emptied) before = fork();
    if (serve()) return;
    if (may_be_emptied) {
      model_ = std::move(*before);
      if (empty_cache() && serve()) return;
    }
    diverge(expected(), "another block, or other calls");
  }

  bool serve() {
    const StreamPool lane = trace_.lane(event_);
    model_.device->play(script_);
    const auto placement = model_.strategy->allocate(
        {.size = trace_.sizes[event_], .stream = lane.stream, .pool = lane.pool});
    if (!placement || placement->address != trace_.addresses[event_] ||
        model_.device->contradiction() || !model_.device->rest().empty()) {
      return false;
    }
    handles_[trace_.slots[event_]] = placement->handle;
    ++result_.allocs_matched;
    result_.segment_events_matched += script_.size();
    script_.clear();
    return true;
  }

  // Memory returned without a free shows that the program called it; false where it did not.
  bool empty_cache() {
    const auto obtained = std::ranges::find(script_, Op::segment_alloc, &ScriptEntry::op);
    const std::vector<ScriptEntry> returned(script_.begin(), obtained);
    if (returned.empty()) return false;
    Model emptied = fork();
    emptied.device->play(returned);
    emptied.strategy->empty_cache();
    if (emptied.device->contradiction() || !emptied.device->rest().empty()) return false;
    model_ = std::move(emptied);
    result_.segment_events_matched += returned.size();
    script_.erase(script_.begin(), obtained);
    return true;
  }

  std::string expected() const {
    return script_.empty() ? fmt::format("the block at 0x{:x}", trace_.addresses[event_])
                           : text_of(script_.front());
  }
  void diverge(std::string expected, std::string got) {
    result_.first_divergence = Divergence{event_, std::move(expected), std::move(got), {}};
  }

  const Trace& trace_;
  std::vector<Handle> handles_;  ///< by slot
  Model model_;
  std::vector<ScriptEntry> script_;  ///< driver events that no call explains yet
  std::size_t event_ = 0;
  VerifyRun result_;
};

}  // namespace

StrategySpec pinned_strategy(const std::string& conf) {
  std::string options;
  for (std::string_view rest = conf; !rest.empty();) {
    const std::string_view option = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(option.size() + 1, rest.size()));
    for (const std::string_view name :
         {"pinned_reserve_segment_size_mb", "pinned_max_round_threshold_mb",
          "pinned_max_cached_size_mb"}) {
      if (!option.starts_with(name) || option.substr(name.size(), 1) != ":") continue;
      options +=
          fmt::format("{}{}={}", options.empty() ? ":" : ",", name, option.substr(name.size() + 1));
    }
  }
  return parse_strategy("pinned" + options);
}

VerifyRun verify_pinned(const Recording& recording, const Trace& trace) {
  const bool requests = std::ranges::find(trace.ops, Op::allocate) != trace.ops.end();
  if (requests && trace.coverage.starts_empty) return PinnedVerification(recording, trace).run();
  VerifyRun unsupported{.gpu = trace.gpu};
  unsupported.reason = requests ? "its host memory has blocks from before the recording"
                                : "no allocation in its history";
  return unsupported;
}

}  // namespace memreplay
