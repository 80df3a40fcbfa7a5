#include "device/host/host_memory.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/address_table.hpp"
#include "core/error.hpp"
#include "device/host/host_pages.hpp"
#include "device/host/malloc_library.hpp"
#include "device/host/pointer.hpp"
#include "device/host/system_memory.hpp"
#include "device/real/touch_parts.hpp"

namespace memreplay {
namespace {

/// Calls `part(from, to)` for what is touched. Parts that are not whole words lie within one; with
/// Touch::all the words are one part, so that they are gone through at once.
template <typename Visit>
void for_each_part(RealRange range, Touch touch, const Visit& part) {
  if (range.size == 0) return;
  const Address end = range.address + range.size;
  if (touch == Touch::all) {
    const Address head = std::min(end, round_up(range.address, kTouchWord));
    const Address tail = std::max(head, end / kTouchWord * kTouchWord);
    if (head != range.address) part(range.address, head);
    if (head != tail) part(head, tail);
    if (tail != end) part(tail, end);
    return;
  }
  const TouchedRange edges{range.address, end, false};
  for (std::uint64_t i = 0; i < touch_part_count(edges); ++i) {
    const TouchPart word = touch_part(edges, i);
    part(word.from, word.to);
  }
}

/// The pattern of consecutive words, a sum away from each other.
class Words {
 public:
  Words(std::uint64_t tag, Address from)
      : of_tag_(touch_word(tag, 0)), of_place_(touch_word(0, from)) {}
  std::uint64_t operator[](std::size_t n) const { return of_tag_ ^ (of_place_ + n * kStep); }

 private:
  static constexpr std::uint64_t kStep = touch_word(0, kTouchWord);

  std::uint64_t of_tag_;
  std::uint64_t of_place_;
};

bool whole_words(Address from, Address to) { return (from | to) % kTouchWord == 0; }

void write(Address from, Address to, std::uint64_t tag) {
  if (!whole_words(from, to)) {
    for (Address at = from; at < to; ++at) *pointer_to<std::uint8_t>(at) = touch_byte(tag, at);
    return;
  }
  const Words pattern(tag, from);
  std::uint64_t* words = pointer_to<std::uint64_t>(from);
  const std::size_t count = (to - from) / kTouchWord;
  for (std::size_t n = 0; n < count; ++n) words[n] = pattern[n];
}

/// The lowest address that differs.
std::optional<Address> first_difference(Address from, Address to, std::uint64_t tag) {
  if (whole_words(from, to)) {
    const Words pattern(tag, from);
    const std::uint64_t* words = pointer_to<std::uint64_t>(from);
    const std::size_t count = (to - from) / kTouchWord;
    constexpr std::size_t kAtOnce = 512;
    std::size_t begin = 0;
    for (; begin < count; begin += kAtOnce) {
      const std::size_t stop = std::min(count, begin + kAtOnce);
      std::uint64_t differs = 0;
      for (std::size_t n = begin; n < stop; ++n) differs |= words[n] ^ pattern[n];
      if (differs != 0) break;
    }
    if (begin >= count) return std::nullopt;
    from += begin * kTouchWord;
  }
  for (Address at = from; at < to; ++at) {
    if (*pointer_to<std::uint8_t>(at) != touch_byte(tag, at)) return at;
  }
  return std::nullopt;
}

/// One part in this many of the free memory stays for page tables and other processes.
constexpr Bytes kSpare = 32;

struct Faults {
  std::uint64_t minor = 0;
  std::uint64_t major = 0;

  static Faults now() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return {static_cast<std::uint64_t>(usage.ru_minflt),
            static_cast<std::uint64_t>(usage.ru_majflt)};
  }
};

Bytes room_of(const SystemMemory& system) {
  const Bytes available = system.available();
  return available - available / kSpare;
}

class HostMemory final : public RealMemory {
 public:
  HostMemory()
      : page_(static_cast<Bytes>(::sysconf(_SC_PAGESIZE))),
        room_(room_of(system_)),
        pages_(room_, page_) {
    facts_ = {.kind = "host",
              .name = system_.processor(),
              .granularity = page_,
              .total = system_.total(),
              .has_virtual_memory = pages_.usable(),
              .pages_when_touched = true};
  }

  const RealMemoryFacts& facts() const override { return facts_; }

  /// What is promised is gone, touched or not.
  Bytes free_bytes() override { return std::min(room_.left(), system_.available()); }

  std::optional<Address> allocate(Bytes size) override {
    if (size > room_.left()) return std::nullopt;
    size = round_up(std::max<Bytes>(size, 1), page_);
    if (!room_.take(size)) return std::nullopt;
    void* region = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED) {
      room_.give_back(size);
      if (errno == ENOMEM) return std::nullopt;
      throw_system_error("mmap");
    }
    const auto address = reinterpret_cast<Address>(region);
    *regions_.emplace(address).first = size;
    return address;
  }

  void free(Address region) override {
    const Bytes* size = regions_.find(region);
    if (size == nullptr) throw std::logic_error("host: free of an unknown region");
    if (::munmap(pointer_to(region), *size) != 0) throw_system_error("munmap");
    room_.give_back(*size);
    regions_.erase(region);
  }

  std::optional<Address> reserve(Bytes size) override { return pages_.reserve(size); }
  void release(Address at, Bytes size) override { pages_.release(at, size); }
  std::optional<Piece> create(Bytes size) override { return pages_.create(size); }
  void destroy(Piece piece) override { pages_.destroy(piece); }
  bool map(Address at, Bytes size, Piece piece) override { return pages_.map(at, size, piece); }
  bool set_access(Address at, Bytes size) override { return pages_.set_access(at, size); }
  void unmap(Address at, Bytes size) override { pages_.unmap(at, size); }

  bool has_allocator(DriverAllocatorOptions::Kind kind) const override {
    return kind == DriverAllocatorOptions::Kind::malloc;
  }
  std::unique_ptr<DriverBlocks> open_allocator(const DriverAllocatorOptions& options) override {
    if (options.kind != DriverAllocatorOptions::Kind::malloc) {
      throw UsageError("the host has no cudaMalloc; its allocator is malloc");
    }
    return open_malloc_library(options.library, room_, resident_);
  }

  Execution& execution() override { return execution_; }

  void begin_measuring() override {
    growth_.begin();
    faults_ = Faults::now();
  }
  void sample() override { resident_.sample(); }
  MeasuredMemory measured() override {
    const Faults faults = Faults::now();
    MeasuredMemory measured{.used = growth_.now()};
    measured.peak_used = growth_.peak();
    measured.minor_faults = faults.minor - faults_.minor;
    measured.major_faults = faults.major - faults_.major;
    return measured;
  }

 private:
  SystemMemory system_;
  Bytes page_;
  Room room_;
  AddressTable<Bytes> regions_;  ///< whole pages
  HostPages pages_;
  HostExecution execution_;
  ResidentMemory resident_;
  ResidentGrowth growth_{resident_};
  Faults faults_ = Faults::now();
  RealMemoryFacts facts_;
};

}  // namespace

std::unique_ptr<RealMemory> open_host_memory() { return std::make_unique<HostMemory>(); }

void HostExecution::fill(StreamIndex, RealRange range, std::uint64_t tag, Touch touch) {
  for_each_part(range, touch, [&](Address from, Address to) { write(from, to, tag); });
}

void HostExecution::check(StreamIndex, RealRange range, std::uint64_t tag, Touch touch) {
  for_each_part(range, touch, [&](Address from, Address to) {
    const auto differs = first_difference(from, to, tag);
    if (!differs) return;
    // Neither the parts nor the ranges of a block need be in the order of addresses.
    if (!mismatches_.empty() && mismatches_.back().tag == tag) {
      mismatches_.back().address = std::min(mismatches_.back().address, *differs);
    } else {
      mismatches_.push_back({tag, *differs});
    }
  });
}

std::vector<TouchMismatch> HostExecution::mismatches() { return std::exchange(mismatches_, {}); }

}  // namespace memreplay
