#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "trace/csv/csv.hpp"
#include "trace/csv_rows.hpp"
#include "trace/writer.hpp"

namespace memreplay {
namespace {

bool has_a_row(Op op) { return !is_driver_event(op); }
bool has_id(const BlockInfo& block) {
  return block.state != BlockState::free && block.slot != kNoSlot;
}

class CsvWriter {
 public:
  CsvWriter(const Recording& recording, const Trace& trace)
      : recording_(recording),
        trace_(trace),
        keeps_ids_(!trace.ids.empty() && trace.start.segments.empty()),
        id_of_(trace.slot_count),
        requested_free_(trace.slot_count),
        unfinished_(unfinished_frees(trace)) {}

  std::string write() {
    choose_columns();
    write_start();
    for (std::size_t event = 0; event < trace_.size(); ++event) write_event(event);
    return fmt::to_string(text_);
  }

 private:
  void choose_columns();
  void write_start();
  void write_event(std::size_t event);
  void write_row(char op, std::optional<std::uint64_t> id, std::optional<Bytes> size,
                 StreamPool lane, std::optional<std::size_t> event);

  template <typename... Arguments>
  void put(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }

  const Recording& recording_;
  const Trace& trace_;
  const bool keeps_ids_;
  bool streams_ = false, pools_ = false, threads_ = false, times_ = false, aligns_ = false,
       tags_ = false, freed_before_ = false, ends_ = false;
  std::vector<std::uint64_t> id_of_;          ///< by slot
  std::vector<std::uint8_t> requested_free_;  ///< by slot: its free waits for completion
  /// An `f` without a `c` frees at once: these are left out.
  const std::vector<std::size_t> unfinished_;
  std::uint64_t next_id_ = 0;
  fmt::memory_buffer text_;
};

void CsvWriter::choose_columns() {
  const auto see_lane = [&](StreamPool lane) {
    streams_ |= trace_.streams[lane.stream] != 0;
    pools_ |= lane.pool != 0;
  };
  const auto says = [](const auto& column, std::size_t event) {
    return !column.empty() && column[event] != 0;
  };
  for (const SegmentInfo& segment : trace_.start.segments) {
    if (std::any_of(segment.blocks.begin(), segment.blocks.end(), has_id)) {
      see_lane({segment.stream, segment.pool});
    }
  }
  for (std::size_t event = 0; event < trace_.size(); ++event) {
    if (!has_a_row(trace_.ops[event])) continue;
    see_lane(trace_.lane(event));
    threads_ |= says(trace_.threads, event);
    times_ |= says(trace_.times_us, event);
    aligns_ |= says(trace_.align_log2, event);
    tags_ |= says(trace_.tags, event);
    freed_before_ |= says(trace_.freed_before, event);
    ends_ |= says(trace_.upper_end, event);
  }
  put("op,id,size");
  if (streams_) put(",stream");
  if (trace_.gpu != 0) put(",device");
  if (pools_) put(",pool");
  if (threads_) put(",thread");
  if (times_) put(",time_us");
  if (aligns_) put(",align");
  if (tags_) put(",tag");
  if (freed_before_) put(",freed_before");
  if (ends_) put(",end");
  put("\n");
}

void CsvWriter::write_start() {
  for (const SegmentInfo& segment : trace_.start.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (!has_id(block)) continue;
      const StreamPool lane{segment.stream, segment.pool};
      id_of_[block.slot] = next_id_++;
      write_row('a', id_of_[block.slot], block.requested, lane, std::nullopt);
      requested_free_[block.slot] = block.state == BlockState::pending;
    }
  }
  // Blocks whose free is under way; those that never complete stay in use.
  std::vector<std::uint8_t> completes(trace_.slot_count);
  std::vector<std::uint8_t> taken_again(trace_.slot_count);
  for (std::size_t event = 0; event < trace_.size(); ++event) {
    const Slot slot = trace_.slots[event];
    if (slot == kNoSlot) continue;
    if (trace_.ops[event] == Op::free_completed && !taken_again[slot]) completes[slot] = 1;
    taken_again[slot] = 1;
  }
  for (const SegmentInfo& segment : trace_.start.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state != BlockState::pending || block.slot == kNoSlot || !completes[block.slot]) {
        continue;
      }
      write_row('f', id_of_[block.slot], std::nullopt, {segment.stream, segment.pool},
                std::nullopt);
    }
  }
}

void CsvWriter::write_event(std::size_t event) {
  const Slot slot = trace_.slots[event];
  const StreamPool lane = trace_.lane(event);
  switch (trace_.ops[event]) {
    case Op::allocate:
      id_of_[slot] = keeps_ids_ ? trace_.ids[event] : next_id_++;
      requested_free_[slot] = 0;
      write_row('a', id_of_[slot], trace_.sizes[event], lane, event);
      break;
    case Op::free_requested:
      if (std::binary_search(unfinished_.begin(), unfinished_.end(), event)) break;
      requested_free_[slot] = 1;
      write_row('f', id_of_[slot], std::nullopt, lane, event);
      break;
    case Op::free:
    case Op::free_completed:
      write_row(requested_free_[slot] ? 'c' : 'f', id_of_[slot], std::nullopt, lane, event);
      requested_free_[slot] = 0;
      break;
    case Op::empty_cache:
      write_row('e', std::nullopt, std::nullopt, lane, event);
      break;
    case Op::marker:
      write_row('m', std::nullopt, std::nullopt, lane, event);
      break;
    case Op::safe_frontier:
      write_row('s', std::nullopt, trace_.sizes[event], lane, event);
      break;
    case Op::oom:
      write_row('o', std::nullopt, trace_.sizes[event], lane, event);
      break;
    default:
      break;  // driver events
  }
}

void CsvWriter::write_row(char op, std::optional<std::uint64_t> id, std::optional<Bytes> size,
                          StreamPool lane, std::optional<std::size_t> event) {
  const auto put_number = [&](std::optional<std::uint64_t> number) {
    number ? put(",{}", *number) : put(",");
  };
  put("{}", op);
  put_number(id);
  put_number(size);
  if (streams_) put(",{}", trace_.streams[lane.stream]);
  if (trace_.gpu != 0) put(",{}", trace_.gpu);
  if (pools_) {
    const PoolId& pool = trace_.pools[lane.pool];
    pool.first == 0 ? put(",{}", pool.second) : put(",{}:{}", pool.first, pool.second);
  }
  const std::size_t at = event.value_or(0);
  if (threads_) put(",{}", event ? trace_.threads[at] : 0);
  if (times_) put(",{}", trace_.times_us[at]);
  if (aligns_) {
    const std::uint8_t log2 = event ? trace_.align_log2[at] : std::uint8_t{0};
    put_number(log2 ? std::optional(Bytes{1} << log2) : std::nullopt);
  }
  if (tags_) put(",{}", event ? csv_field(recording_.texts[trace_.tags[at]]) : "");
  if (freed_before_) {
    const std::uint64_t stamp = event ? trace_.freed_before[at] : 0;
    put_number(stamp ? std::optional(stamp) : std::nullopt);
  }
  if (ends_) put(",{}", event && trace_.upper_end[at] ? "upper" : "");
  put("\n");
}

}  // namespace

std::string write_csv(const Recording& recording, const Trace& trace) {
  return CsvWriter(recording, trace).write();
}

WriterInfo csv_writer() {
  return {.format = "csv",
          .name = "CSV",
          .suffix = ".csv",
          .needs_addresses = false,
          .one_device = true,
          .for_stdout = true,
          .write = [](const Recording& recording, std::ostream& out) {
            out << write_csv(recording, recording.traces.front());
            return left_out_of(recording, "CSV",
                               {.streams = true,
                                .threads = true,
                                .times = true,
                                .alignments = true,
                                .refusals = true,
                                .all_calls = true});
          }};
}

}  // namespace memreplay
