#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ostream>
#include <string_view>
#include <vector>

#include "trace/writer.hpp"

namespace memreplay {
namespace {

/// Where pointers begin that no recording names.
constexpr Address kFirstPointer = Address{1} << 44;
constexpr Bytes kPointerUnit = 256;
constexpr std::size_t kTextAtOnce = 1 << 20;

/// Time of day: a log has no date.
struct ClockTime {
  explicit ClockTime(std::int64_t time_us) {
    constexpr std::int64_t kDay = 86'400'000'000;
    us = (time_us % kDay + kDay) % kDay;
  }
  std::int64_t us = 0;
};

/// By stream: 1 and 2 mean default streams to RMM, so streams of those handles get others.
std::vector<std::uint64_t> rmm_handles(const Trace& trace) {
  constexpr std::uint64_t kLastReserved = 2, kOthers = std::uint64_t{1} << 32;
  std::vector<std::uint64_t> handles = trace.streams;
  for (std::uint64_t& handle : handles) {
    if (handle == 0 || handle > kLastReserved) continue;
    handle += kOthers;
    while (std::ranges::find(trace.streams, handle) != trace.streams.end()) handle += kOthers;
  }
  return handles;
}

class RmmWriter {
 public:
  RmmWriter(const Trace& trace, std::ostream& out)
      : trace_(trace),
        out_(out),
        handles_(rmm_handles(trace)),
        has_ids_(!trace.ids.empty() && ids_are_pointers()),
        pointer_of_(trace.slot_count),
        size_of_(trace.slot_count) {}

  void write() {
    text_ = "Thread,Time,Action,Pointer,Size,Stream\n";
    write_start();
    for (std::size_t event = 0; event < trace_.size(); ++event) write_event(event);
    out_ << text_;
  }

 private:
  bool ids_are_pointers() const {
    for (std::size_t event = 0; event < trace_.size(); ++event) {
      if (trace_.ops[event] == Op::allocate && trace_.ids[event] == 0) return false;
    }
    return true;
  }
  void write_start();
  void write_event(std::size_t event);
  void write_block(std::size_t event, std::string_view action, Slot slot, StreamIndex stream);
  void write_row(std::size_t event, std::string_view action, std::string_view pointer, Bytes size,
                 StreamIndex stream);
  Address next_pointer(Bytes size);

  const Trace& trace_;
  std::ostream& out_;
  const std::vector<std::uint64_t> handles_;  ///< by stream
  const bool has_ids_;
  std::vector<Address> pointer_of_;  ///< by slot
  std::vector<Bytes> size_of_;       ///< by slot; 0: it has no rows
  Address next_pointer_ = kFirstPointer;
  std::string text_;
};

Address RmmWriter::next_pointer(Bytes size) {
  const Address pointer = next_pointer_;
  next_pointer_ += round_up(size, kPointerUnit);
  return pointer;
}

/// Blocks from before the recording are allocated at its first time.
void RmmWriter::write_start() {
  for (const SegmentInfo& segment : trace_.start.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state != BlockState::allocated || block.slot == kNoSlot) continue;
      size_of_[block.slot] = block.requested;
      pointer_of_[block.slot] =
          trace_.addresses.empty() ? next_pointer(block.requested) : block.address;
      write_block(0, "allocate", block.slot, segment.stream);
    }
  }
}

void RmmWriter::write_event(std::size_t event) {
  const Slot slot = trace_.slots[event];
  switch (trace_.ops[event]) {
    case Op::allocate:
      size_of_[slot] = trace_.sizes[event];
      pointer_of_[slot] = !trace_.addresses.empty() ? trace_.addresses[event]
                          : has_ids_                ? trace_.ids[event]
                                                    : next_pointer(trace_.sizes[event]);
      write_block(event, "allocate", slot, trace_.lane(event).stream);
      break;
    case Op::free:
    case Op::free_requested:
      write_block(event, "free", slot, trace_.lane(event).stream);
      size_of_[slot] = 0;
      break;
    case Op::oom:
      write_row(event, "allocate failure", "(nil)", trace_.sizes[event], trace_.lane(event).stream);
      break;
    default:
      break;
  }
}

void RmmWriter::write_block(std::size_t event, std::string_view action, Slot slot,
                            StreamIndex stream) {
  if (size_of_[slot] == 0) return;
  write_row(event, action, fmt::format("{:#x}", pointer_of_[slot]), size_of_[slot], stream);
}

void RmmWriter::write_row(std::size_t event, std::string_view action, std::string_view pointer,
                          Bytes size, StreamIndex stream) {
  const std::uint32_t thread = trace_.threads.empty() ? 0 : trace_.threads[event];
  const ClockTime clock(trace_.times_us.empty() ? 0 : trace_.times_us[event]);
  const std::int64_t seconds = clock.us / 1'000'000;
  const std::uint64_t handle = handles_[stream];
  fmt::format_to(std::back_inserter(text_), "{},{:02}:{:02}:{:02}.{:06},{},{},{},", thread,
                 seconds / 3600, seconds / 60 % 60, seconds % 60, clock.us % 1'000'000, action,
                 pointer, size);
  text_ += handle == 0 ? "0\n" : fmt::format("{:#x}\n", handle);
  if (text_.size() < kTextAtOnce) return;
  out_ << text_;
  text_.clear();
}

}  // namespace

WriterInfo rmm_writer() {
  return {.format = "rmm",
          .name = "RMM log",
          .suffix = ".csv",
          .needs_addresses = false,
          .one_device = true,
          .write = [](const Recording& recording, std::ostream& out) {
            const Trace& trace = recording.traces.front();
            RmmWriter(trace, out).write();
            return left_out_of(recording, "an RMM log",
                               {.streams = true, .threads = true, .times = true, .refusals = true});
          }};
}

}  // namespace memreplay
