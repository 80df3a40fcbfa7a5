#include "replay/program.hpp"

#include <algorithm>
#include <cassert>

#include "replay/column_window.hpp"
#include "trace/gate.hpp"

namespace memreplay {
namespace {

class Weaver {
 public:
  Weaver(const Trace& trace, const ProgramOptions& options)
      : trace_(trace), options_(options), end_(std::min<std::uint64_t>(options.to, trace.size())) {}

  Program weave(const Reading* reading) {
    if (trace_.streamed) {
      view_streamed(trace_, end_, program_);
    } else {
      view_columns();
    }
    program_.lanes = trace_.lanes;
    program_.slot_count = trace_.slot_count;
    if (options_.scale != 1) scale_sizes();
    program_.start = &trace_.start;
    program_.starts_cold = options_.start == StartMode::cold;
    program_.keeps_cache = options_.ignore_empty_cache;
    program_.refusals_stand = options_.refusals_stand;
    if (!program_.starts_cold) add_blocks();
    if (reading != nullptr) add_completions(*reading);
    for (const std::uint64_t event : options_.insert_empty_cache) {
      if (event < end_) program_.acts.push_back({event, Act::Kind::empty_cache});
    }
    if (reading != nullptr) add_calls(*reading);
    if (reading != nullptr) add_parkings(*reading);
    // What was added first comes first before the same event.
    std::ranges::stable_sort(program_.acts, {}, &Act::before);
    return std::move(program_);
  }

 private:
  void view_columns() {
    program_.ops = played(trace_.ops);
    program_.align_log2 = played(trace_.align_log2);
    program_.lane_of = played(trace_.lane_of);
    program_.slots = played(trace_.slots);
    program_.sizes = played(trace_.sizes);
    program_.times_us = played(trace_.times_us);
    program_.threads = played(trace_.threads);
    program_.tags = played(trace_.tags);
    program_.freed_before = played(trace_.freed_before);
    program_.upper_end = played(trace_.upper_end);
    program_.says_more = !trace_.threads.empty() || !trace_.tags.empty() ||
                         !trace_.freed_before.empty() || !trace_.upper_end.empty();
  }

  template <typename T>
  std::span<const T> played(const std::vector<T>& column) const {
    return std::span(column).first(std::min<std::size_t>(end_, column.size()));
  }

  // A safe frontier counts frees, not bytes.
  void scale_sizes() {
    program_.rescaled.resize(end_);
    for (std::uint64_t event = 0; event < end_; ++event) {
      const Bytes size = trace_.sizes[event];
      program_.rescaled[event] =
          trace_.ops[event] == Op::safe_frontier ? size : scaled(size, options_.scale);
    }
    program_.sizes = program_.rescaled;
  }

  void add_blocks() {
    for (const SegmentInfo& segment : trace_.start.segments) {
      for (const BlockInfo& block : segment.blocks) {
        if (block.state == BlockState::free) continue;
        program_.blocks.push_back(
            {block.slot, block.state == BlockState::pending,
             Request{scaled(block.requested, options_.scale), 0, segment.stream, segment.pool}});
      }
    }
  }

  // What is due earlier comes first, and never before the recording has completed it.
  void add_completions(const Reading& reading) {
    struct Completion {
      std::uint64_t due;
      Act act;
    };
    std::vector<Completion> completions;
    std::uint32_t parked = 0;
    for (const Deferral& deferral : reading.deferrals) {
      if (deferral.event >= end_) break;
      const std::uint64_t before = std::max(deferral.due, deferral.event + 1);
      const Act act{before, Act::Kind::complete, 0, parked++};
      if (deferral.due != UINT64_MAX) completions.push_back({deferral.due, act});
    }
    std::ranges::stable_sort(completions, {}, &Completion::due);
    for (const Completion& completion : completions) program_.acts.push_back(completion.act);
  }

  void add_calls(const Reading& reading) {
    for (const ProgramCall& call : reading.calls) {
      if (call.event >= end_ && !is_behind_all(call.event)) break;
      if (const auto kind = act_of(call.kind)) {
        program_.acts.push_back({call.event, *kind, call.pool});
      }
    }
  }

  // Where the program called last, a trace that was made from a recording may have no event.
  bool is_behind_all(std::uint64_t event) const { return event == end_ && end_ == trace_.size(); }

  std::optional<Act::Kind> act_of(ProgramCall::Kind kind) const {
    switch (kind) {
      case ProgramCall::Kind::empty_cache:
        if (options_.ignore_empty_cache) return std::nullopt;
        return Act::Kind::empty_cache;
      case ProgramCall::Kind::end_pool:
        return options_.ignore_empty_cache ? Act::Kind::release_pool : Act::Kind::end_pool;
      case ProgramCall::Kind::release_pool:
        break;
    }
    return Act::Kind::release_pool;
  }

  void add_parkings(const Reading& reading) {
    for (const Deferral& deferral : reading.deferrals) {
      if (deferral.event >= end_) break;
      program_.acts.push_back({deferral.event, Act::Kind::park, 0, program_.parkings++});
    }
  }

  const Trace& trace_;
  const ProgramOptions& options_;
  std::uint64_t end_;
  Program program_;
};

}  // namespace

Program program_of(const Trace& trace, const Reading* reading, const ProgramOptions& options) {
  assert(!fault_in(trace));
  return Weaver(trace, options).weave(reading);
}

Program program_of(const Subject& subject, const ProgramOptions& options) {
  return program_of(subject.trace(), subject.reading(), options);
}

}  // namespace memreplay
