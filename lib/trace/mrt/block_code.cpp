#include "trace/mrt/block_code.hpp"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <new>
#include <utility>

namespace memreplay {
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
/// Bytes of a 64-bit difference.
constexpr std::size_t kLongestNumber = 10;

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

std::string_view take_section(ByteCursor& payload) { return payload.bytes(payload.number()); }

}  // namespace

std::string BlockEncoder::encode(const EventColumns& events, std::size_t from, std::size_t to) {
  std::uint32_t present = 0;
  for_each_cold_column(codes_, [&](std::uint32_t bit, auto column, auto&) {
    if (!(events.*column).empty()) present |= bit;
  });
  std::string payload;
  put_number(payload, present);
  std::string section;
  for (std::size_t i = from; i < to; ++i) events_.put(events, i, section);
  put_section(payload, section);
  section.clear();
  codes_.lane_of.put(events.lane_of, events, from, to, section);
  put_section(payload, section);
  section.clear();
  codes_.align_log2.put(events.align_log2, events, from, to, section);
  put_section(payload, section);
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
  ByteCursor code(take_section(payload));
  events_.take(code, count, events);
  if (code.left() > 0) throw MrtFault("more events than it says");
  codes_.lane_of.take(ByteCursor(take_section(payload)), events, events.lane_of);
  codes_.align_log2.take(ByteCursor(take_section(payload)), events, events.align_log2);
  for_each_cold_column(codes_, [&](std::uint32_t bit, auto column, auto& cold) {
    (events.*column).clear();
    if ((present & bit) == 0) return;
    const std::string_view section = take_section(payload);
    if ((wanted_ & bit) != 0) cold.take(unpacked(section, count), events, events.*column);
  });
  if (present > kEveryColdColumn || payload.left() > 0) throw MrtFault("columns that nobody knows");
  check_numbers(events);
}

ByteCursor BlockDecoder::unpacked(std::string_view section, std::size_t count) {
  if (section.empty()) return ByteCursor({});
  unpacked_.resize(count * kLongestNumber);
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
