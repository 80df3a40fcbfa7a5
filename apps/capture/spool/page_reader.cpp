#include "spool/page_reader.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace memreplay::capture {
namespace {

constexpr std::size_t kBytesOfCode[] = {1, 2, 3, 6};

std::uint64_t difference(std::uint64_t number) {
  return number >> 1 ^ (number % 2 == 0 ? 0 : ~std::uint64_t{0});
}

std::uint8_t head_at(const std::byte* at) {
  auto& head = *const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(at));
  return std::atomic_ref(head).load(std::memory_order_acquire);
}

/// The bytes of an entry's parts after its order and address.
struct Rest {
  bool is_known = false;
  std::size_t size = 0;
  std::size_t align_log2 = 0;
  std::size_t what = 0;
};

Rest rest_of(unsigned entry) {
  switch (static_cast<Entry>(entry)) {
    case Entry::none:
      return {};
    case Entry::time:
    case Entry::free:
    case Entry::reallocating:
      return {.is_known = true};
    case Entry::other:
    case Entry::odd:
      return {.is_known = true, .what = 8};
    default:
      return {.is_known = entry < static_cast<unsigned>(Entry::free),
              .size = kBytesOfCode[entry % 4],
              .align_log2 = entry / 4 == static_cast<unsigned>(Entry::aligned) / 4};
  }
}

Call call_of(Entry entry) {
  switch (entry) {
    case Entry::free:
      return Call::free;
    case Entry::reallocating:
      return Call::reallocating;
    default:
      return Call::allocate;
  }
}

}  // namespace

PageReader::PageReader(const std::byte* page, std::size_t size, std::size_t record_bytes,
                       double ns_per_order)
    : page_(page),
      end_(page + size),
      at_(page + std::min(size, sizeof(SpoolPageHead))),
      begins_(at_),
      further_bytes_(record_bytes - sizeof(Record)),
      ns_per_order_(ns_per_order) {
  const auto& head = *reinterpret_cast<const SpoolPageHead*>(page);
  order_ = timed_order_ = head.order;
  time_ns_ = head.time_ns;
}

std::uint64_t PageReader::take(std::size_t bytes) {
  std::uint64_t number = 0;
  if (end_ - at_ >= std::ptrdiff_t{sizeof number}) {
    std::memcpy(&number, at_, sizeof number);
    number &= ~std::uint64_t{0} >> (64 - 8 * bytes);
  } else {
    std::memcpy(&number, at_, bytes);
  }
  at_ += bytes;
  return number;
}

bool PageReader::next(std::byte* record) {
  Record& call = *reinterpret_cast<Record*>(record);
  Entry entry = Entry::time;
  while (entry == Entry::time) {
    if (!next_entry(call, entry)) return false;
  }
  std::memcpy(record + sizeof(Record), at_, further_bytes_);
  at_ += further_bytes_;
  return true;
}

bool PageReader::next_entry(Record& record, Entry& entry) {
  if (at_ == end_) return false;
  const unsigned head = head_at(at_);
  const Rest rest = rest_of(head >> 4);
  entry = static_cast<Entry>(head >> 4);
  const std::size_t order_bytes = kBytesOfCode[head % 4];
  const std::size_t address_bytes = entry == Entry::odd ? 8 : kBytesOfCode[head / 4 % 4];
  const std::size_t further = entry == Entry::time ? 0 : further_bytes_;
  const std::size_t bytes =
      1 + order_bytes + address_bytes + rest.size + rest.align_log2 + rest.what + further;
  if (!rest.is_known || bytes > static_cast<std::size_t>(end_ - at_)) return false;
  begins_ = at_++;
  order_ += take(order_bytes);
  const std::uint64_t address = take(address_bytes);
  if (entry == Entry::time) {
    time_ns_ =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(time_ns_) + difference(address));
    timed_order_ = order_;
    return true;
  }
  if (entry == Entry::odd) {
    record.address = address;
    sixteenth_ = address / 16;
  } else {
    sixteenth_ += difference(address);
    record.address = sixteenth_ * 16;
  }
  record.order = order_;
  record.time_ns = time_at(order_);
  const std::uint64_t size = rest.size == 0 ? 0 : take(rest.size);
  const auto align_log2 = static_cast<std::uint8_t>(rest.align_log2 == 0 ? 0 : take(1));
  record.what = rest.what == 0 ? described(call_of(entry), size, align_log2) : take(8);
  return true;
}

std::int64_t PageReader::time_at(std::uint64_t order) const {
  constexpr double kMostNs = 1e18;
  const double since = static_cast<double>(order - timed_order_) * ns_per_order_;
  const auto ns = static_cast<std::uint64_t>(std::min(since, kMostNs));
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(time_ns_) + ns);
}

bool PageReader::is_torn() const {
  return std::any_of(at_, end_, [](std::byte byte) { return byte != std::byte{}; });
}

}  // namespace memreplay::capture
