#include "trace/losses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>

namespace memreplay {
namespace {

class LossCount {
 public:
  explicit LossCount(const Trace& trace) : trace_(trace) {}

  template <typename Is>
  void add(std::string_view what, Is is) {
    std::uint64_t count = 0;
    for (std::size_t event = 0; event < trace_.size(); ++event) count += is(event) ? 1 : 0;
    if (count == 0) return;
    text_ += fmt::format("{}{} ({})", text_.empty() ? "" : ", ", what, count);
  }
  void add_op(std::string_view what, Op op) {
    add(what, [&](std::size_t event) { return trace_.ops[event] == op; });
  }
  template <typename Column>
  void add_column(std::string_view what, const Column& column) {
    if (column.empty()) return;
    add(what, [&](std::size_t event) { return column[event] != 0; });
  }
  const std::string& text() const { return text_; }

 private:
  const Trace& trace_;
  std::string text_;
};

}  // namespace

Losses left_out_of(const Trace& trace, std::string_view log, LogPlaces has) {
  LossCount lost(trace);
  if (!has.refusals) lost.add_op("refused requests", Op::oom);
  lost.add("requests of no bytes", [&](std::size_t event) {
    return trace.ops[event] == Op::allocate && trace.sizes[event] == 0;
  });
  lost.add("frees that another stream delays", [&](std::size_t event) {
    return trace.ops[event] == Op::free_requested && !trace.completes_at_once(event);
  });
  lost.add_op("markers", Op::marker);
  lost.add_op("emptied caches", Op::empty_cache);
  lost.add_op("safe frontiers", Op::safe_frontier);
  lost.add("events of the driver",
           [&](std::size_t event) { return is_driver_event(trace.ops[event]); });
  if (!has.streams) {
    lost.add("streams",
             [&](std::size_t event) { return trace.streams[trace.lane(event).stream] != 0; });
  }
  lost.add("pools", [&](std::size_t event) { return trace.lane(event).pool != 0; });
  if (!has.threads) lost.add_column("threads", trace.threads);
  if (!has.times) lost.add_column("times", trace.times_us);
  if (!has.alignments) lost.add_column("alignments", trace.align_log2);
  lost.add_column("tags", trace.tags);
  lost.add_column("stacks", trace.stacks);
  if (lost.text().empty()) return {};
  return {fmt::format("left out, as {} has no place for it, by events: {}", log, lost.text())};
}

}  // namespace memreplay
