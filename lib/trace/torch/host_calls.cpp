#include "trace/torch/host_calls.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/text.hpp"
#include "core/units.hpp"

namespace memreplay {
namespace {

Bytes kept_up_to(std::string_view conf) {
  constexpr std::string_view kLimit = "pinned_max_cached_size_mb:";
  const std::size_t at = conf.find(kLimit);
  if (at == conf.npos) return UINT64_MAX;
  const std::string_view number = conf.substr(at + kLimit.size());
  const auto limit = parse_whole(number.substr(0, number.find(',')));
  return limit && *limit <= UINT64_MAX / kMiB ? *limit * kMiB : UINT64_MAX;
}

/// The events of a trace once more, with changes.
class HostCalls {
 public:
  HostCalls(Trace& trace, Bytes kept) : trace_(trace), kept_(kept) {}

  void find() {
    bool emptying = false;
    for (std::size_t event = 0; event < trace_.size(); ++event) {
      const bool returns = trace_.ops[event] == Op::segment_free && !goes_back_alone(event);
      if (returns && !emptying) add(event, Op::empty_cache, kNoSlot);
      emptying = returns;
      if (trace_.completes_at_once(event)) {
        add(event, Op::free, trace_.slots[event]);
        ++event;
      } else {
        add(event, trace_.ops[event], trace_.slots[event]);
      }
    }
    static_cast<EventColumns&>(trace_) = std::move(calls_);
  }

 private:
  // Right after the end of the block's life, and too large to be kept.
  bool goes_back_alone(std::size_t event) const {
    if (event == 0 || trace_.sizes[event] <= kept_) return false;
    const Op before = trace_.ops[event - 1];
    return (before == Op::free || before == Op::free_completed) &&
           trace_.addresses[event - 1] == trace_.addresses[event];
  }

  void add(std::size_t event, Op op, Slot slot) {
    for_each_column([&](auto column) {
      if (!(trace_.*column).empty()) (calls_.*column).push_back((trace_.*column)[event]);
    });
    calls_.ops.back() = op;
    calls_.slots.back() = slot;
    if (op != Op::empty_cache) return;
    calls_.sizes.back() = 0;
    if (!calls_.addresses.empty()) calls_.addresses.back() = 0;
  }

  Trace& trace_;
  Bytes kept_;
  EventColumns calls_;
};

}  // namespace

void find_host_calls(Trace& trace, const std::string& conf) {
  HostCalls(trace, kept_up_to(conf)).find();
}

}  // namespace memreplay
