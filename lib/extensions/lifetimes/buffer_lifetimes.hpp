#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/event_outlet.hpp"
#include "trace/trace_builder.hpp"

namespace memreplay {

/// What the events of a buffer say. Half a line of the cache: in the order of time they lie
/// anywhere.
struct alignas(32) LivingBuffer {
  Bytes size = 0;
  std::uint64_t id = 0;
  std::uint32_t tag = 0;
  std::uint8_t align_log2 = 0;
  Slot slot = kNoSlot;  ///< is given by BufferLifetimes
};

/// Buffers with their lifetimes, in any order, that become the events of a trace.
class BufferLifetimes {
 public:
  /// For about so many, rather more.
  void reserve(std::size_t count);
  /// It is live in [lower, upper), which is not empty.
  void add(std::int64_t lower, std::int64_t upper, const LivingBuffer& buffer) {
    begins_.push_back(static_cast<std::uint64_t>(lower));
    ends_.push_back(static_cast<std::uint64_t>(upper));
    buffers_.push_back(buffer);
  }
  /// As they were added.
  std::vector<LivingBuffer>& buffers() { return buffers_; }

  /// Makes events in the order of time, and fills the columns of ids and, where there are any, of
  /// tags. Frees come first, so that a buffer may take the place of one that ends; of events at one
  /// time that of the buffer that was added first. To be called once.
  void add_to(TraceBuilder& builder, EventOutlet& outlet);

 private:
  template <typename Rows>
  void add_in_order(const Rows& begins, const Rows& ends, TraceBuilder& builder,
                    EventOutlet& outlet);

  // Times by buffer, apart from it: they are needed for the order alone. Signed ones as they are in
  // memory, which lets them become what is sorted where they stand.
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint64_t> ends_;
  std::vector<LivingBuffer> buffers_;
};

}  // namespace memreplay
