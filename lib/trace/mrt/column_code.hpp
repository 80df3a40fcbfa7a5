#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "trace/event_columns.hpp"
#include "trace/mrt/mrt_bytes.hpp"

namespace memreplay {

/// What a value is likely to be.
enum class Likely {
  as_before,     ///< the previous event's value
  as_its_block,  ///< the value of the previous event of its block, else that of the last allocation
};

/// One column of a trace as differences from what is likely, a number each; nothing at all for
/// events that have none. Writes or reads, in the order of the events.
template <typename T>
class ColumnCode {
 public:
  explicit ColumnCode(Likely likely) : likely_(likely) {}

  /// Writes the `values` of the events in [from, to).
  void put(const std::vector<T>& values, const EventColumns& events, std::size_t from,
           std::size_t to, std::string& out) {
    std::string differences;
    bool any = false;
    for (std::size_t i = from; i < to; ++i) {
      const std::uint64_t difference = zigzag(difference_of(values[i], guess(events, i)));
      any |= difference != 0;
      put_number(differences, difference);
      note(events, i, values[i]);
    }
    if (any) out += differences;
  }

  /// One value for each of the events, in the place of those there. Throws MrtFault.
  void take(ByteCursor code, const EventColumns& events, std::vector<T>& values) {
    const std::size_t count = events.ops.size();
    const bool any = code.left() > 0;
    values.resize(count);
    if (!any && only_zeros_) {
      values.assign(count, T{});
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t difference = any ? unzigzag(code.number()) : 0;
      values[i] = static_cast<T>(static_cast<std::uint64_t>(guess(events, i)) +
                                 static_cast<std::uint64_t>(difference));
      note(events, i, values[i]);
    }
    if (code.left() > 0) throw MrtFault("a column of more values than events");
  }

 private:
  static std::int64_t difference_of(T value, T guess) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) -
                                     static_cast<std::uint64_t>(guess));
  }

  T guess(const EventColumns& events, std::size_t event) const {
    const Slot slot = events.slots[event];
    if (likely_ == Likely::as_before || slot == kNoSlot || events.ops[event] == Op::allocate) {
      return last_;
    }
    return slot < of_slot_.size() ? of_slot_[slot] : T{};
  }

  void note(const EventColumns& events, std::size_t event, T value) {
    const Slot slot = events.slots[event];
    only_zeros_ &= value == T{};
    if (likely_ == Likely::as_before || events.ops[event] == Op::allocate) last_ = value;
    if (likely_ == Likely::as_before || slot == kNoSlot) return;
    if (slot >= of_slot_.size()) {
      if (value == T{}) return;
      of_slot_.resize(std::size_t{slot} + 1);
    }
    of_slot_[slot] = value;
  }

  Likely likely_;
  T last_{};
  bool only_zeros_ = true;  ///< so far
  std::vector<T> of_slot_;
};

}  // namespace memreplay
