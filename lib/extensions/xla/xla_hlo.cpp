#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "extensions/heaps/proto_fields.hpp"
#include "extensions/xla/xla_plan.hpp"
#include "trace/gate.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

/// A module's name and entry, and a computation in it with a name.
bool is_hlo(std::string_view bytes) {
  const auto module = ProtoBeginning(bytes).take_bytes(1);
  if (!module) return false;
  ProtoBeginning inside(*module);
  if (!inside.take_bytes(1) || !inside.take_bytes(2)) return false;
  const auto computation = inside.take_bytes(3);
  return computation && ProtoBeginning(*computation).take_bytes(1);
}

/// Values that come to lie in one place of the heap, one after the other or in one another's.
struct HeapPlace {
  StatedBuffer buffer;
  std::uint64_t living = 0;  ///< values in it
  std::optional<std::int64_t> free_since;
};

/// Plays a trace of the heap simulator: the number of an event is its time.
class HeapTrace {
 public:
  HeapTrace(const Input& input, const std::unordered_map<std::uint64_t, Bytes>& sizes)
      : input_(input), sizes_(sizes) {}

  void play(std::string_view bytes) {
    constexpr std::uint64_t kKind = 1, kValue = 2, kInstruction = 4, kSharesWith = 5;
    enum Kind : std::uint8_t { kAlloc, kFree, kShareWith };
    std::uint64_t kind = kAlloc, value = 0, other = 0;
    std::string_view instruction;
    for_each_field(input_, bytes, [&](const ProtoField& field) {
      if (field.number == kKind) kind = field.value;
      if (field.number == kValue) value = field.value;
      if (field.number == kInstruction) instruction = field.bytes;
      if (field.number == kSharesWith) other = field.value;
    });
    if (kind == kAlloc) {
      allocate(bytes, value, instruction);
    } else if (kind == kFree) {
      free(bytes, value);
    } else if (kind == kShareWith) {
      share(bytes, value, other);
    }
    ++time_;
  }

  /// Whether the value lies in a place of the trace, which gets its offset.
  bool take_offset(std::uint64_t value, Bytes offset) {
    const auto known = values_.find(value);
    if (known == values_.end()) return false;
    std::optional<Bytes>& planned = places_[known->second.place].buffer.planned;
    if (!planned) planned = offset;
    return true;
  }
  std::vector<StatedBuffer> places() {
    std::vector<StatedBuffer> buffers;
    for (HeapPlace& place : places_) {
      place.buffer.upper = place.free_since.value_or(time_);
      if (place.buffer.size > 0) buffers.push_back(std::move(place.buffer));
    }
    return buffers;
  }

 private:
  struct Value {
    std::size_t place = 0;
    bool lives = true;
  };

  void allocate(std::string_view event, std::uint64_t value, std::string_view instruction) {
    last_allocation_ = time_;
    enter(event, value, places_.size());
    places_.push_back({.buffer = {.name = std::string(instruction), .lower = time_}, .living = 1});
    grow(event, value, places_.back());
  }
  void free(std::string_view event, std::uint64_t value) {
    const auto known = values_.find(value);
    if (known == values_.end() || !known->second.lives) fail(event, "frees", value);
    known->second.lives = false;
    HeapPlace& place = places_[known->second.place];
    if (--place.living == 0) place.free_since = time_;
  }
  // The operand is freed before the result takes its place. Where nothing was allocated in between
  // the place was never free; else others may have used it, and it is a gap.
  void share(std::string_view event, std::uint64_t value, std::uint64_t other) {
    const auto known = values_.find(other);
    if (known == values_.end()) fail(event, "shares the place of", other);
    const std::size_t number = known->second.place;
    HeapPlace& place = places_[number];
    const auto free_since = std::exchange(place.free_since, {});
    if (free_since && last_allocation_ > *free_since) {
      place.buffer.gaps.push_back({.from = *free_since, .to = time_});
    }
    enter(event, value, number);
    ++place.living;
    grow(event, value, place);
  }
  void enter(std::string_view event, std::uint64_t value, std::size_t place) {
    const auto [known, is_new] = values_.try_emplace(value);
    if (!is_new && known->second.lives) fail(event, "allocates again", value);
    known->second = {place};
  }
  void grow(std::string_view event, std::uint64_t value, HeapPlace& place) {
    const auto size = sizes_.find(value);
    if (size == sizes_.end()) fail(event, "allocates", value);
    if (size->second >= kMostBytes) fail(event, "is 1 EiB or more for", value);
    place.buffer.size = std::max(place.buffer.size, size->second);
  }
  [[noreturn]] void fail(std::string_view event, std::string_view does, std::uint64_t value) const {
    ProtoMessage(input_, event)
        .fail(fmt::format("an event {} value {}, which {}", does, value,
                          sizes_.contains(value) ? "is not as it should be" : "there is not"));
  }

  const Input& input_;
  const std::unordered_map<std::uint64_t, Bytes>& sizes_;
  std::vector<HeapPlace> places_;
  std::unordered_map<std::uint64_t, Value> values_;
  std::int64_t time_ = 0;
  std::int64_t last_allocation_ = -1;
};

/// The assignment of buffers beside a module.
class BufferAssignment {
 public:
  BufferAssignment(const Input& input, std::string_view bytes) : input_(input) {
    constexpr std::uint64_t kValue = 1, kAllocation = 3, kTrace = 4;
    for_each_field(input, bytes, [&](const ProtoField& field) {
      if (field.wire != kLengthGiven) return;
      if (field.number == kValue) values_.insert(numbers_of(input, field.bytes, 1, 2));
      if (field.number == kAllocation) allocations_.push_back(field.bytes);
      if (field.number == kTrace) traces_.push_back(field.bytes);
    });
  }

  /// The largest allocation's, which a trace is of.
  XlaPlan plan() const {
    XlaPlan plan;
    std::string_view trace, allocation;
    for (const std::string_view bytes : traces_) {
      const std::uint64_t number = numbers_of(input_, bytes, 3, 3).first;
      for (const std::string_view candidate : allocations_) {
        const auto [index, size] = numbers_of(input_, candidate, 1, 2);
        if (index != number || (!trace.empty() && size <= plan.total)) continue;
        trace = bytes;
        allocation = candidate;
        plan.total = size;
      }
    }
    if (plan.total >= kMostBytes) {
      ProtoMessage(input_, allocation).fail("an allocation of 1 EiB or more");
    }
    HeapTrace heap(input_, values_);
    for_each_field(input_, trace, [&](const ProtoField& field) {
      if (field.number == 1) heap.play(field.bytes);
    });
    Bytes outside = 0;
    for_each_field(input_, allocation, [&](const ProtoField& field) {
      constexpr std::uint64_t kAssigned = 9;
      if (field.number != kAssigned) return;
      const auto [value, offset] = numbers_of(input_, field.bytes, 1, 2);
      if (offset >= kMostBytes)
        ProtoMessage(input_, field.bytes).fail("an offset of 1 EiB or more");
      if (!heap.take_offset(value, offset)) {
        outside += numbers_of(input_, field.bytes, 3, 3).first;
      }
    });
    plan.places = heap.places();
    put_in_order(plan.places);
    if (outside > 0) {
      plan.lacks.push_back(fmt::format(
          "{} of its allocation outside of the heap (tables of tuples)", human_size(outside)));
    }
    if (traces_.size() > 1) {
      plan.lacks.push_back(fmt::format("{} smaller heaps", human_count(traces_.size() - 1)));
    }
    return plan;
  }
  bool has_trace() const { return !traces_.empty(); }

 private:
  const Input& input_;
  std::unordered_map<std::uint64_t, Bytes> values_;  ///< sizes
  std::vector<std::string_view> allocations_, traces_;
};

/// Throws InputError where the file has a module alone, or no temporary buffers.
XlaPlan plan_of(const Input& input) {
  std::string_view module, assignment;
  for_each_field(input, input.bytes, [&](const ProtoField& field) {
    if (field.number == 1 && module.empty()) module = field.bytes;
    if (field.number == 3) assignment = field.bytes;
  });
  const BufferAssignment buffers(input, assignment);
  if (!buffers.has_trace()) {
    throw InputError(input.name, "",
                     fmt::format("is an XLA module {}; expected one after optimizations with "
                                 "temporary buffers (--xla_dump_hlo_as_proto)",
                                 assignment.empty() ? "without an assignment of buffers"
                                                    : "whose assignment has no trace of a heap"));
  }
  XlaPlan plan = buffers.plan();
  plan.module = std::string(ProtoBeginning(module).take_bytes(1).value_or(""));
  return plan;
}

}  // namespace

// openxla/xla, hlo.proto, as XLA_FLAGS=--xla_dump_hlo_as_proto dumps it (jax 0.12).
ReaderInfo xla_hlo_reader() {
  return {.name = "xla-hlo",
          .summary = "An XLA module with the plan of its temporary buffers (.hlo.pb), for plan.",
          .recognises = [](const Input& input) { return is_hlo(input.bytes); },
          .read = [](const Input& input,
                     const ReadOptions&) { return recording_of(plan_of(input), input, "xla-hlo"); },
          .stated = [](const Input& input, const ReadOptions&) { return plan_of(input).places; }};
}

}  // namespace memreplay
