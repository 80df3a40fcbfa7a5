#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/address_table.hpp"
#include "trace/event_outlet.hpp"
#include "trace/pages.hpp"
#include "trace/reader.hpp"
#include "trace/trace_builder.hpp"

namespace memreplay {

/// Who is asked for a block, or gets it back.
struct PointerPlace {
  std::uint64_t heap = 0;  ///< an address is live in each for itself; becomes a pool
  std::uint64_t stream = 0;

  friend bool operator==(const PointerPlace&, const PointerPlace&) = default;
};

/// A block that a log frees, by its size, without having allocated it: it was there before.
struct EarlierPointer {
  PointerPlace place;
  Address address = 0;
  Bytes size = 0;
};
/// Unset: not yet looked for.
using EarlierPointers = std::optional<std::vector<EarlierPointer>>;

/// Makes a trace of calls that name blocks by their addresses, which come again. What a log lacks
/// is added and what means nothing left out, both counted. The ids are the addresses; other cold
/// columns are filled by the caller, after each call.
class PointerLog {
 public:
  /// With `begin` events leave as they come, a block of them at a time. `path` is for messages.
  PointerLog(int gpu, std::string path, BeginEvents begin)
      : builder_(gpu), outlet_(std::move(path), std::move(begin)) {}

  /// Who knows where in its file the log stands: "line 12".
  void tell_places(std::function<std::string()> place) { place_ = std::move(place); }
  /// About how many events there will be, rather more; the caller fills the columns, too.
  template <typename... Columns>
  void expect(std::size_t events, Columns... columns) {
    events = outlet_.room(events);
    builder_.reserve_at_most(events);
    reserve_at_most(trace().ids, events);
    (reserve_at_most(trace().*columns, events), ...);
  }
  /// Ahead of all calls: what another reading of the log found by `earlier`.
  void begin_with(EarlierPointers earlier);
  /// After that: so many bytes were live before the first call. What is beyond those blocks
  /// becomes one block that is never freed.
  void begin_with_rest(Bytes live);
  /// After all calls: what a reading should begin with; unset where this one did.
  EarlierPointers earlier() const;

  /// Throws std::length_error above 65,535 places, as the others do. At 0 it was refused.
  void allocate(PointerPlace place, Address address, Bytes size);
  /// Whether a block is live there.
  bool has(PointerPlace place, Address address) {
    return live(place.heap).find(address) != nullptr;
  }
  /// The size of the block, where the log says it.
  void free(PointerPlace place, Address address, std::optional<Bytes> size = {});
  /// A block without an address, which the caller knows by its slot; kNoSlot where it is left out.
  Slot begin_block(Bytes size, std::uint64_t id) {
    if (size == 0) return leave_out_empty(Op::allocate), kNoSlot;
    const Slot slot = builder_.take_slot();
    add(Op::allocate, {}, id, slot, size);
    return slot;
  }
  /// Its free.
  void end_block(Slot slot, Bytes size, std::uint64_t id) {
    if (slot == kNoSlot) return leave_out_empty(Op::free);
    add(Op::free, {}, id, slot, size);
    builder_.return_slot(slot);
  }
  /// A block that moves, or stays and has another size. To 0 it was refused, and stays as it is.
  void reallocate(PointerPlace place, Address from, Address to, Bytes size);
  /// A request that the program did not get.
  void refuse(PointerPlace place, Bytes size);
  /// A region that the recorded allocator got from its device.
  void obtain_region(Address address, Bytes size) {
    add(Op::segment_alloc, {}, address, kNoSlot, size);
  }
  /// A mark of the program; its text is for the caller's column of tags.
  void mark();

  /// After each call, once the caller has filled its columns.
  void is_filled() { outlet_.filled(builder_); }

  /// Fills a column of the caller's, as TraceBuilder does.
  template <auto column, typename Value>
  void fill(Value value) {
    builder_.fill<column>(value);
  }
  /// Whether it needs to.
  template <auto column>
  bool lacks() const {
    return builder_.lacks<column>();
  }

  void leave_out(const std::string& reason, std::uint64_t events = 1);
  /// Leaves out what a replay needs, so that it becomes an estimate.
  void lacks(const std::string& what) {
    is_gapless_ = false;
    leave_out(what);
  }
  /// Nothing is missing, but a replay is an estimate; why stands in what the recording lacks.
  void is_unsure() { is_sure_ = false; }
  /// As of TraceBuilder.
  Trace& trace() { return builder_.trace(); }
  std::size_t size() const { return builder_.size(); }

  /// After all calls: puts the trace into the recording, and hands that on where events leave.
  /// False where there was none to leave.
  bool finish(Recording& recording);

 private:
  struct Block {
    Bytes size = 0;
    Slot slot = kNoSlot;      ///< none where the block was left out
    std::uint32_t empty = 0;  ///< blocks of size 0 there, which leave the address to others
    bool is_earlier = false;
  };

  AddressTable<Block>& live(std::uint64_t heap) {
    if (heap >= live_.size()) live_.resize(heap + 1);
    return live_[heap];
  }
  void add(Op op, PointerPlace place, Address address, Slot slot, Bytes size) {
    if (!lane_ || place != latest_place_) {
      lane_ = builder_.lane(place.stream, {0, place.heap});
      latest_place_ = place;
    }
    builder_.add(op, *lane_, slot, size);
    builder_.fill<&Trace::ids>(address);
  }
  void leave_out_empty(Op op);
  void add_lost_free(PointerPlace place, Address address, const Block& block);
  void free_unknown(PointerPlace place, Address address, std::optional<Bytes> size);

  TraceBuilder builder_;
  PointerPlace latest_place_;
  std::optional<std::uint16_t> lane_;      ///< the lane of `latest_place_`
  std::vector<AddressTable<Block>> live_;  ///< by heap, these are numbered from 0
  bool is_gapless_ = true;
  bool is_sure_ = true;
  EventOutlet outlet_;
  std::function<std::string()> place_ = [] { return std::string(); };
  EarlierPointers begins_with_;
  std::vector<EarlierPointer> found_;  ///< in a reading that looks for them
  /// Heaps and addresses of those found, and of those that turn out to be none.
  std::set<std::pair<std::uint64_t, Address>> noted_;
};

/// A Recording of such a log, without its trace.
Recording recording_of_log(const Input& input, std::string format, std::string detail);

}  // namespace memreplay
