#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <ostream>
#include <unordered_set>
#include <vector>

#include "trace/writer.hpp"

namespace memreplay {
namespace {

/// A row of the file; times count the allocations and frees before.
struct Lifetime {
  std::uint64_t id = 0;
  std::uint64_t lower = 0;
  std::uint64_t upper = 0;
  Bytes size = 0;
  std::uint8_t align_log2 = 0;
};

class LifetimesOf {
 public:
  explicit LifetimesOf(const Trace& trace) : trace_(trace), row_of_(trace.slot_count) {}

  std::vector<Lifetime> rows() {
    add_start();
    for (std::size_t event = 0; event < trace_.size(); ++event) add_event(event);
    // After the last allocation nothing differs for who places blocks: all ends there at one time,
    // as what is never freed does.
    for (Lifetime& row : rows_) row.upper = std::min(row.upper, behind_last_);
    if (keeps_ids()) return std::move(rows_);
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].id = i;
    return std::move(rows_);
  }

 private:
  void add_start() {
    for (const SegmentInfo& segment : trace_.start.segments) {
      for (const BlockInfo& block : segment.blocks) {
        if (block.state == BlockState::free || block.slot == kNoSlot) continue;
        begin(block.slot, block.requested, 0, 0);
      }
    }
  }

  void add_event(std::size_t event) {
    const Slot slot = trace_.slots[event];
    switch (trace_.ops[event]) {
      case Op::allocate:
        begin(slot, trace_.sizes[event], trace_.align_log2[event],
              trace_.ids.empty() ? 0 : trace_.ids[event]);
        break;
      case Op::free:
      case Op::free_completed:
        if (row_of_[slot]) rows_[*row_of_[slot]].upper = time_++;
        row_of_[slot].reset();
        break;
      default:
        break;
    }
  }

  void begin(Slot slot, Bytes size, std::uint8_t align_log2, std::uint64_t id) {
    if (size == 0) return;
    row_of_[slot] = rows_.size();
    rows_.push_back({id, time_++, UINT64_MAX, size, align_log2});
    behind_last_ = time_;
  }

  /// The recording's ids name one block each.
  bool keeps_ids() const {
    if (trace_.ids.empty() || !trace_.start.segments.empty()) return false;
    std::unordered_set<std::uint64_t> seen;
    return std::ranges::all_of(rows_,
                               [&](const Lifetime& row) { return seen.insert(row.id).second; });
  }

  const Trace& trace_;
  std::vector<std::optional<std::size_t>> row_of_;  ///< by slot, of live blocks
  std::vector<Lifetime> rows_;
  std::uint64_t time_ = 0;
  std::uint64_t behind_last_ = 0;  ///< allocation
};

Losses write_minimalloc(const Recording& recording, std::ostream& out) {
  const Trace& trace = recording.traces.front();
  const std::vector<Lifetime> rows = LifetimesOf(trace).rows();
  const bool aligned = std::ranges::any_of(rows, [](const auto& row) { return row.align_log2; });
  out << (aligned ? "id,lower,upper,size,alignment\n" : "id,lower,upper,size\n");
  for (const Lifetime& row : rows) {
    out << fmt::format("{},{},{},{}", row.id, row.lower, row.upper, row.size);
    if (aligned) out << ',' << (Bytes{1} << row.align_log2);
    out << '\n';
  }
  return left_out_of(recording, "a list of lifetimes", {.alignments = true, .last_ends = false});
}

}  // namespace

WriterInfo minimalloc_writer() {
  return {.format = "minimalloc",
          .name = "list of lifetimes",
          .suffix = ".csv",
          .needs_addresses = false,
          .one_device = true,
          .write = write_minimalloc};
}

}  // namespace memreplay
