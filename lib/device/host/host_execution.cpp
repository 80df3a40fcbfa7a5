#include "device/host/host_execution.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "device/host/pointer.hpp"
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

}  // namespace

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
