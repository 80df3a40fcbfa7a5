#include "trace/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay {
namespace {

class LossCount {
 public:
  explicit LossCount(const Trace& trace) : trace_(trace) {}

  template <typename Is>
  void add(std::string_view what, Is is) {
    std::uint64_t count = 0;
    for (std::size_t event = 0; event < trace_.size(); ++event) count += is(event) ? 1 : 0;
    add_count(what, count);
  }
  void add_count(std::string_view what, std::uint64_t count) {
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

/// For a log that has allocations and frees alone.
void add_calls(const Trace& trace, LossCount& lost) {
  lost.add("requests of no bytes", [&](std::size_t event) {
    return trace.ops[event] == Op::allocate && trace.sizes[event] == 0;
  });
  lost.add("frees delayed by another stream", [&](std::size_t event) {
    return trace.ops[event] == Op::free_requested && !trace.completes_at_once(event);
  });
  lost.add_op("markers", Op::marker);
  lost.add_op("emptied caches", Op::empty_cache);
  lost.add_op("safe frontiers", Op::safe_frontier);
}

std::uint64_t placed_before(const Trace& trace) {
  std::uint64_t blocks = 0;
  for (const SegmentInfo& segment : trace.start.segments) {
    blocks += std::ranges::count_if(
        segment.blocks, [](const BlockInfo& block) { return block.state != BlockState::free; });
  }
  return blocks;
}

/// Blocks that outlive the last request; none where it is one alone, which is freed.
std::uint64_t last_ends(const Trace& trace) {
  std::uint64_t live = placed_before(trace), outlive = live, ends = 0;
  for (std::size_t event = 0; event < trace.size(); ++event) {
    if (trace.slots[event] == kNoSlot || trace.sizes[event] == 0) continue;
    if (trace.ops[event] == Op::allocate) {
      outlive = ++live;
      ends = 0;
    } else if (trace.ops[event] == Op::free || trace.ops[event] == Op::free_completed) {
      --live;
      ++ends;
    }
  }
  return outlive == 1 && ends == 1 ? 0 : outlive;
}

// "NAME.pickle, NAME.json or NAME.csv"
std::string files_of(std::span<const WriterInfo* const> formats) {
  std::string text;
  for (std::size_t i = 0; i < formats.size(); ++i) {
    const char* before = i == 0 ? "" : i + 1 == formats.size() ? " or " : ", ";
    text += fmt::format("{}NAME{}", before, formats[i]->suffix);
  }
  return text;
}

const WriterInfo& writer_for_stdout() {
  return *std::ranges::find_if(writers(), &WriterInfo::for_stdout);
}

}  // namespace

#define MEMREPLAY_WRITER(identifier, file) WriterInfo identifier##_writer();
#include "registered/writers.def"
#undef MEMREPLAY_WRITER

std::span<const WriterInfo> writers() {
  static const std::array kWriters = {
#define MEMREPLAY_WRITER(identifier, file) identifier##_writer(),
#include "registered/writers.def"
#undef MEMREPLAY_WRITER
  };
  return kWriters;
}

const WriterInfo& writer_for(const std::string& path) {
  if (path == "-") return writer_for_stdout();
  std::vector<const WriterInfo*> all;
  for (const WriterInfo& writer : writers()) {
    if (path.ends_with(writer.suffix)) return writer;
    const bool listed = std::ranges::any_of(
        all, [&](const WriterInfo* other) { return other->suffix == writer.suffix; });
    if (!listed) all.push_back(&writer);
  }
  throw UsageError(fmt::format(
      "{}: the name does not end in a format that can be written; expected {}, or - for {} on "
      "standard output",
      path, files_of(all), writer_for_stdout().name));
}

const WriterInfo& writer_named(const std::string& format) {
  const auto found = std::ranges::find(writers(), format, &WriterInfo::format);
  if (found != writers().end()) return *found;
  std::vector<std::string> known;
  for (const WriterInfo& writer : writers()) known.emplace_back(writer.format);
#define MEMREPLAY_LEFT_OUT(identifier, extension) \
  if (format == #identifier) throw NotBuilt("--to " + format, extension);
#include "registered/writers_left_out.def"
#undef MEMREPLAY_LEFT_OUT
  throw UsageError(fmt::format("--to is '{}'; expected {}{}", format, writable_formats(),
                               did_you_mean(format, known)));
}

std::string writable_formats() {
  std::string text;
  for (const WriterInfo& writer : writers()) {
    text += text.empty() ? "" : "|";
    text += writer.format;
  }
  return text;
}

std::string files_with_addresses() {
  std::vector<const WriterInfo*> formats;
  for (const WriterInfo& writer : writers()) {
    if (writer.needs_addresses) formats.push_back(&writer);
  }
  return files_of(formats);
}

Losses left_out_of(const Recording& recording, std::string_view log, LogPlaces has) {
  const Trace& trace = recording.traces.front();
  LossCount lost(trace);
  if (!has.refusals) lost.add_op("refused requests", Op::oom);
  if (!has.last_ends) {
    lost.add_count("ends of blocks that outlive the last request", last_ends(trace));
  }
  if (has.all_calls) {
    lost.add_count("frees that never complete", unfinished_frees(trace).size());
  } else {
    add_calls(trace, lost);
  }
  lost.add_count("places of blocks from before the recording", placed_before(trace));
  lost.add("events of the driver",
           [&](std::size_t event) { return is_driver_event(trace.ops[event]); });
  if (!has.streams) {
    lost.add("streams",
             [&](std::size_t event) { return trace.streams[trace.lane(event).stream] != 0; });
  }
  if (!has.all_calls) {
    lost.add("pools", [&](std::size_t event) { return trace.lane(event).pool != 0; });
  }
  if (!has.threads) lost.add_column("threads", trace.threads);
  if (!has.times) lost.add_column("times", trace.times_us);
  if (!has.alignments) lost.add_column("alignments", trace.align_log2);
  if (!has.all_calls) lost.add_column("tags", trace.tags);
  lost.add_column("stacks", trace.stacks);
  lost.add_count("beginnings and ends of annotated scopes", recording.annotations.size());
  if (lost.text().empty()) return {};
  return {fmt::format("left out, because {} cannot hold it, by events: {}", log, lost.text())};
}

std::vector<std::size_t> unfinished_frees(const Trace& trace) {
  std::vector<std::optional<std::size_t>> waiting(trace.slot_count);
  for (std::size_t event = 0; event < trace.size(); ++event) {
    const Slot slot = trace.slots[event];
    if (slot == kNoSlot) continue;
    if (trace.ops[event] == Op::free_requested) {
      waiting[slot] = event;
    } else {
      waiting[slot].reset();
    }
  }
  std::vector<std::size_t> unfinished;
  for (const auto& event : waiting) {
    if (event) unfinished.push_back(*event);
  }
  std::ranges::sort(unfinished);
  return unfinished;
}

}  // namespace memreplay
