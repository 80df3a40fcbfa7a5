#include "verify/recorded_order.hpp"

#include "core/range_set.hpp"

namespace memreplay {

std::optional<AddressPolicy> recorded_order(const Trace& trace) {
  if (trace.streamed || trace.addresses.empty()) return std::nullopt;
  constexpr Bytes kPiece = 32 * kMiB;  // a run of NVIDIA's driver begins at a multiple of it
  constexpr std::size_t kFewest = 3;
  std::size_t large = 0;  // regions that share no piece with another one
  std::size_t begin_pieces = 0;
  const auto look_at = [&](Address at, Bytes size) {
    if (size <= kPiece / 2) return;
    ++large;
    begin_pieces += at % kPiece == 0 ? 1 : 0;
  };
  for (const SegmentInfo& segment : trace.start.segments) {
    if (!segment.expandable) look_at(segment.address, segment.size);
  }
  RangeSet returned;
  bool reuses = false;
  bool obtains = large > 0;
  for (std::uint64_t event = 0; event < trace.size(); ++event) {
    const AddressRange range{trace.addresses[event], trace.addresses[event] + trace.sizes[event]};
    if (trace.ops[event] == Op::segment_alloc) {
      obtains = true;
      look_at(range.from, range.size());
      while (const auto before = returned.above(range.from)) {
        if (before->from >= range.to) break;
        reuses = true;
        returned.erase(*before);
      }
    } else if (trace.ops[event] == Op::segment_free && range.from < range.to) {
      returned.insert(range);
    }
  }
  if (!obtains) return std::nullopt;
  if (large >= kFewest && begin_pieces * 10 >= large * 9) return AddressPolicy::cuda_linux;
  return reuses ? AddressPolicy::first_fit : AddressPolicy::upward;
}

}  // namespace memreplay
