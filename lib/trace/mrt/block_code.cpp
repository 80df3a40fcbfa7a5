#include "trace/mrt/block_code.hpp"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace memreplay {
namespace {

enum Code : std::uint64_t { kKnownSize, kNewSize, kFree, kRare };
enum RareCode : std::uint64_t { kCompletesLast, kRequestFree, kCompleteFree, kSpelled };

constexpr std::size_t kMostSizes = 1 << 16;    ///< in the dictionary
constexpr std::uint64_t kRecent = 1 << 16;     ///< allocations that can be named by age
constexpr Bytes kMostInCode = Bytes{1} << 62;  ///< sizes from it on are spelled out
constexpr Op kLastOp = Op::segment_unmap;

constexpr bool frees(Op op) {
  return op == Op::free || op == Op::free_requested || op == Op::free_completed;
}

}  // namespace

void EventEncoder::put(const EventColumns& events, std::size_t event, std::string& out) {
  const Op op = events.ops[event];
  const Slot slot = events.slots[event];
  const Bytes size = events.sizes[event];
  if (op == Op::allocate) {
    put_allocation(slot, size, out);
  } else if (frees(op)) {
    put_free(op, slot, size, out);
  } else {
    spell(op, slot, size, out);
  }
  requested_ = op == Op::free_requested ? slot : kNoSlot;
}

void EventEncoder::put_allocation(Slot slot, Bytes size, std::string& out) {
  if (guess_.take() != slot || size >= kMostInCode) {
    spell(Op::allocate, slot, size, out);
  } else if (const auto known = dictionary_.find(size); known != dictionary_.end()) {
    put_number(out, known->second << 2 | kKnownSize);
  } else {
    put_number(out, size << 2 | kNewSize);
    if (dictionary_.size() < kMostSizes) dictionary_.emplace(size, dictionary_.size());
  }
  guess_.taken(slot);
  if (slot >= blocks_.size()) blocks_.resize(std::size_t{slot} + 1);
  blocks_[slot] = {size, allocations_++};
}

void EventEncoder::put_free(Op op, Slot slot, Bytes size, std::string& out) {
  if (!knows(slot, size)) {
    spell(op, slot, size, out);
  } else if (op == Op::free) {
    put_number(out, name_of(slot) << 2 | kFree);
  } else if (op == Op::free_completed && slot == requested_) {
    put_number(out, kCompletesLast << 2 | kRare);
  } else {
    const RareCode code = op == Op::free_requested ? kRequestFree : kCompleteFree;
    put_number(out, name_of(slot) << 4 | code << 2 | kRare);
  }
  if (op != Op::free_requested) guess_.give_back(slot);
}

void EventEncoder::spell(Op op, Slot slot, Bytes size, std::string& out) {
  put_number(out, static_cast<std::uint64_t>(op) << 4 | kSpelled << 2 | kRare);
  put_number(out, slot == kNoSlot ? 0 : std::uint64_t{slot} + 1);
  put_number(out, size);
}

std::uint64_t EventEncoder::name_of(Slot slot) const {
  const std::uint64_t by_slot = std::uint64_t{slot} << 1 | 1;
  const std::uint64_t number = blocks_[slot].number;
  if (number == UINT64_MAX) return by_slot;
  const std::uint64_t age = allocations_ - 1 - number;
  return age < kRecent ? std::min(age << 1, by_slot) : by_slot;
}

EventDecoder::EventDecoder(Slot slot_count) : sizes_(slot_count), recent_(kRecent) {}

void EventDecoder::take(ByteCursor& code, std::size_t count, EventColumns& events) {
  events.ops.resize(count);
  events.slots.resize(count);
  events.sizes.resize(count);
  // Sizes of many blocks are far away: they are called for a strip of events before they are
  // needed, and then kept and given in the order of the events, without a branch.
  constexpr std::size_t kStrip = 64;
  std::array<Bytes*, kStrip> kept;
  std::array<bool, kStrip> is_given;
  Bytes none = 0;
  for (std::size_t from = 0; from < count; from += kStrip) {
    const std::size_t strip = std::min(kStrip, count - from);
    for (std::size_t i = 0; i < strip; ++i) {
      const Event event = next(code);
      events.ops[from + i] = event.op;
      events.slots[from + i] = event.slot;
      events.sizes[from + i] = event.size;
      is_given[i] = event.has_size;
      kept[i] = event.op == Op::allocate || !event.has_size ? &sizes_[event.slot] : &none;
      __builtin_prefetch(kept[i], 1);
    }
    for (std::size_t i = 0; i < strip; ++i) {
      Bytes& size = events.sizes[from + i];
      size = is_given[i] ? size : *kept[i];
      *kept[i] = size;
    }
  }
}

[[gnu::always_inline]] inline EventDecoder::Event EventDecoder::next(ByteCursor& code) {
  const std::uint64_t number = code.number();
  const std::uint64_t rest = number >> 2;
  if ((number & 3) == kRare) return rare(rest, code);
  requested_ = kNoSlot;
  if ((number & 3) == kFree) return free(Op::free, named(rest));
  if ((number & 3) == kKnownSize) {
    if (rest >= dictionary_.size()) throw MrtFault("an allocation of no known size");
    return allocation(guess_.take(), dictionary_[rest]);
  }
  if (dictionary_.size() < kMostSizes) dictionary_.push_back(rest);
  return allocation(guess_.take(), rest);
}

[[gnu::always_inline]] inline EventDecoder::Event EventDecoder::allocation(Slot slot, Bytes size) {
  if (slot >= sizes_.size()) throw MrtFault("more blocks at once than the file says");
  guess_.taken(slot);
  recent_[allocations_++ % kRecent] = slot;
  return {Op::allocate, true, slot, size};
}

[[gnu::always_inline]] inline EventDecoder::Event EventDecoder::free(Op op, Slot slot) {
  if (op != Op::free_requested) guess_.give_back(slot);
  return {op, false, slot, 0};
}

EventDecoder::Event EventDecoder::rare(std::uint64_t code, ByteCursor& rest) {
  const Slot requested = std::exchange(requested_, kNoSlot);
  switch (code & 3) {
    case kCompletesLast:
      if (requested == kNoSlot) throw MrtFault("the completion of a free that nobody requested");
      return free(Op::free_completed, requested);
    case kRequestFree:
      requested_ = named(code >> 2);
      return free(Op::free_requested, requested_);
    case kCompleteFree:
      return free(Op::free_completed, named(code >> 2));
    default:
      return spelled(code >> 2, rest);
  }
}

EventDecoder::Event EventDecoder::spelled(std::uint64_t op_number, ByteCursor& rest) {
  const std::uint64_t slot_number = rest.number();
  const Bytes size = rest.number();
  if (op_number > static_cast<std::uint64_t>(kLastOp)) throw MrtFault("an unknown operation");
  if (slot_number > sizes_.size()) throw MrtFault("a slot that there is not");
  const auto op = static_cast<Op>(op_number);
  const Slot slot = slot_number == 0 ? kNoSlot : static_cast<Slot>(slot_number - 1);
  if (slot == kNoSlot && (op == Op::allocate || frees(op))) throw MrtFault("a block of no slot");
  if (op == Op::allocate) {
    guess_.take();
    return allocation(slot, size);
  }
  if (op == Op::free_requested) requested_ = slot;
  if (op == Op::free || op == Op::free_completed) guess_.give_back(slot);
  return {op, true, slot, size};
}

Slot EventDecoder::named(std::uint64_t name) const {
  const std::uint64_t number = name >> 1;
  if ((name & 1) != 0) {
    if (number >= sizes_.size()) throw MrtFault("a slot that there is not");
    return static_cast<Slot>(number);
  }
  if (number >= std::min(allocations_, kRecent)) throw MrtFault("a block older than all");
  return recent_[(allocations_ - 1 - number) % kRecent];
}

namespace {

/// Bits, in the order of kColdColumns.
enum ColdColumn : std::uint32_t {
  kTimesColumn = 1 << 0,
  kThreadsColumn = 1 << 1,
  kTagsColumn = 1 << 3,
  kFreedBeforeColumn = 1 << 6,
  kUpperEndColumn = 1 << 7,
};

constexpr int kZstdLevel = 1;
/// Bytes of a 64-bit number.
constexpr std::size_t kLongestNumber = 10;
/// Numbers of an event that is spelled out.
constexpr std::size_t kMostNumbers = 3;

/// Whether the sections of the events, of lane_of and of align_log2 are packed, above the bits of
/// cold columns.
constexpr std::uint32_t kHotSections = 3;
constexpr std::uint32_t kFirstHotBit = kEveryColdColumn + 1;
constexpr std::uint32_t kEveryBit = (kFirstHotBit << kHotSections) - 1;

/// Calls `use(bit, column, code)` for every cold column.
template <typename Use>
void for_each_cold_column(ColumnCodes& codes, Use use) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (use(std::uint32_t{1} << I, std::get<I>(kColdColumns), std::get<I>(codes.cold)), ...);
  }
  (std::make_index_sequence<std::tuple_size_v<decltype(codes.cold)>>());
}

void put_section(std::string& out, std::string_view bytes) {
  put_number(out, bytes.size());
  out += bytes;
}

/// What zstd wrote, in bytes. Throws where it did not: std::bad_alloc, MrtFault.
std::size_t written(std::size_t result) {
  if (ZSTD_isError(result) == 0) return result;
  if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation) throw std::bad_alloc();
  throw MrtFault("a column that cannot be unpacked");
}

std::string packed(const std::string& bytes) {
  if (bytes.empty()) return {};
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(
      written(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), kZstdLevel)));
  return out;
}

/// Packs what repeats itself, and nothing else, which is read faster as it is; into no fewer bytes
/// than `events` need to be believed.
bool pack_well(std::string& section, std::size_t events) {
  std::string small = packed(section);
  const bool is_well =
      small.size() < section.size() / 2 && small.size() * kMostEventsAByte >= events;
  if (is_well) section = std::move(small);
  return is_well;
}

std::string_view take_section(ByteCursor& payload) { return payload.bytes(payload.number()); }

}  // namespace

std::string BlockEncoder::encode(const EventColumns& events, std::size_t from, std::size_t to) {
  std::uint32_t present = 0;
  for_each_cold_column(codes_, [&](std::uint32_t bit, auto column, auto&) {
    if (!(events.*column).empty()) present |= bit;
  });
  std::array<std::string, kHotSections> hot;
  for (std::size_t i = from; i < to; ++i) events_.put(events, i, hot[0]);
  codes_.lane_of.put(events.lane_of, events, from, to, hot[1]);
  codes_.align_log2.put(events.align_log2, events, from, to, hot[2]);
  for (std::uint32_t i = 0; i < kHotSections; ++i) {
    if (pack_well(hot[i], i == 0 ? to - from : 0)) present |= kFirstHotBit << i;
  }
  std::string payload;
  put_number(payload, present);
  for (const std::string& section : hot) put_section(payload, section);
  std::string section;
  for_each_cold_column(codes_, [&](std::uint32_t bit, auto column, auto& code) {
    if ((present & bit) == 0) return;
    section.clear();
    code.put(events.*column, events, from, to, section);
    put_section(payload, packed(section));
  });
  return payload;
}

std::uint32_t cold_columns(ColdColumns wanted) {
  constexpr std::uint32_t kOfRequests =
      kThreadsColumn | kTagsColumn | kFreedBeforeColumn | kUpperEndColumn;
  return wanted == ColdColumns::of_requests ? kOfRequests : kOfRequests | kTimesColumn;
}

BlockDecoder::BlockDecoder(const NumberLimits& limits, std::uint32_t wanted_columns)
    : limits_(limits), wanted_(wanted_columns), events_(limits.slots) {}

void BlockDecoder::decode(std::string_view payload_bytes, std::size_t count, EventColumns& events) {
  ByteCursor payload(payload_bytes);
  const std::uint64_t present = payload.number();
  const auto take_hot = [&](std::uint32_t number) {
    const std::string_view section = take_section(payload);
    const bool is_packed = (present & (kFirstHotBit << number)) != 0;
    return is_packed ? unpacked(section, count * kMostNumbers) : ByteCursor(section);
  };
  ByteCursor code = take_hot(0);
  events_.take(code, count, events);
  if (code.left() > 0) throw MrtFault("more events than it says");
  codes_.lane_of.take(take_hot(1), events, events.lane_of);
  codes_.align_log2.take(take_hot(2), events, events.align_log2);
  for_each_cold_column(codes_, [&](std::uint32_t bit, auto column, auto& cold) {
    (events.*column).clear();
    if ((present & bit) == 0) return;
    const std::string_view section = take_section(payload);
    if ((wanted_ & bit) != 0) cold.take(unpacked(section, count), events, events.*column);
  });
  if (present > kEveryBit || payload.left() > 0) throw MrtFault("unknown columns");
  check_numbers(events);
}

ByteCursor BlockDecoder::unpacked(std::string_view section, std::size_t numbers) {
  if (section.empty()) return ByteCursor({});
  const auto stated = ZSTD_getFrameContentSize(section.data(), section.size());
  unpacked_.resize(std::min<std::uint64_t>(numbers * kLongestNumber, stated));
  const std::size_t bytes =
      written(ZSTD_decompress(unpacked_.data(), unpacked_.size(), section.data(), section.size()));
  return ByteCursor(std::string_view(unpacked_).substr(0, bytes));
}

void BlockDecoder::check_numbers(const EventColumns& events) const {
  const auto within = [](const std::vector<std::uint32_t>& numbers, std::size_t end) {
    return std::ranges::all_of(numbers, [&](std::uint32_t number) { return number < end; });
  };
  if (!within(events.tags, limits_.texts)) throw MrtFault("a text that there is not");
  if (!within(events.stacks, limits_.stacks)) throw MrtFault("a stack that there is not");
}

}  // namespace memreplay
