#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "trace/trace_builder.hpp"

namespace memreplay {

/// A recording of one device, written down call by call.
class RecordingWriter {
 public:
  RecordingWriter() {
    recording_.path = "written.csv";
    recording_.format = "csv";
    recording_.texts = {""};
    recording_.stacks = {{}};
  }

  /// A stack of frames "FILE:LINE NAME", innermost first.
  std::uint32_t stack(const std::vector<std::string>& frames) {
    std::vector<std::uint32_t> numbers;
    for (const std::string& frame : frames) {
      const std::size_t colon = frame.find(':');
      const std::size_t blank = frame.find(' ', colon);
      const auto line =
          static_cast<std::uint32_t>(std::stoul(frame.substr(colon + 1, blank - colon - 1)));
      numbers.push_back(
          number_of(Frame{text(frame.substr(blank + 1)), text(frame.substr(0, colon)), line},
                    recording_.frames));
    }
    return number_of(numbers, recording_.stacks);
  }
  std::uint32_t text(const std::string& text) { return number_of(text, recording_.texts); }

  RecordingWriter& alloc(Slot slot, Bytes size, std::uint32_t stack = 0) {
    sizes_[slot] = size;
    return add(Op::allocate, slot, size, stack);
  }
  RecordingWriter& free(Slot slot) { return add(Op::free, slot, sizes_.at(slot)); }
  RecordingWriter& add(Op op, Slot slot, Bytes size, std::uint32_t stack = 0) {
    builder_.add(op, builder_.lane(0, PoolId{}), slot, size);
    builder_.trace().stacks.push_back(stack);
    builder_.trace().times_us.push_back(
        static_cast<std::int64_t>(builder_.trace().times_us.size()));
    if (slot != kNoSlot) {
      builder_.trace().slot_count = std::max(builder_.trace().slot_count, slot + 1);
    }
    return *this;
  }
  /// A scope begins or ends before the next event.
  RecordingWriter& annotate(const std::string& name, bool begins) {
    const auto now = static_cast<std::int64_t>(builder_.trace().times_us.size());
    recording_.annotations.push_back({text(name), begins, 0, now});
    return *this;
  }

  Recording recording() {
    recording_.traces = {builder_.finish()};
    return recording_;
  }

 private:
  template <typename T>
  static std::uint32_t number_of(const T& wanted, std::vector<T>& all) {
    const auto found = std::ranges::find(all, wanted);
    const auto number = static_cast<std::uint32_t>(found - all.begin());
    if (found == all.end()) all.push_back(wanted);
    return number;
  }

  Recording recording_;
  TraceBuilder builder_{0};
  std::map<Slot, Bytes> sizes_;
};

}  // namespace memreplay
