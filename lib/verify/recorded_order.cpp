#include "verify/recorded_order.hpp"

#include <algorithm>

#include "core/range_set.hpp"

namespace memreplay {

std::optional<AddressPolicy> recorded_order(const Trace& trace) {
  if (trace.streamed || trace.addresses.empty()) return std::nullopt;
  // In whole runs of NVIDIA's driver large regions begin at multiples of this, but for those that
  // fit into the rest of a run; packed by 2 MiB one in sixteen does.
  constexpr Bytes kPiece = 32 * kMiB;
  std::size_t large = 0;  // regions that no two of share a piece
  std::size_t begin_pieces = 0;
  std::size_t above = 0;  // calls that gave an address above, and below, all before
  std::size_t below = 0;
  AddressRange all{UINT64_MAX, 0};
  const auto look_at = [&](AddressRange region) {
    all = {std::min(all.from, region.from), std::max(all.to, region.to)};
    if (region.size() <= kPiece / 2) return;
    ++large;
    begin_pieces += region.from % kPiece == 0 ? 1 : 0;
  };
  for (const SegmentInfo& segment : trace.start.segments) {
    if (!segment.expandable) look_at({segment.address, segment.address + segment.size});
  }
  RangeSet returned;
  bool reuses = false;
  for (std::uint64_t event = 0; event < trace.size(); ++event) {
    const Op op = trace.ops[event];
    if (op != Op::segment_alloc && op != Op::segment_free) continue;
    const AddressRange region{trace.addresses[event], trace.addresses[event] + trace.sizes[event]};
    if (op == Op::segment_free) {
      if (region.from < region.to) returned.insert(region);
      continue;
    }
    above += region.from >= all.to ? 1 : 0;
    below += region.to <= all.from ? 1 : 0;
    look_at(region);
    for (auto before = returned.above(region.from); before && before->from < region.to;
         before = returned.above(region.from)) {
      reuses = true;
      returned.erase(*before);
    }
  }
  if (all.to == 0) return std::nullopt;
  const bool in_pieces = begin_pieces > 1 && begin_pieces * 4 >= large;
  if (in_pieces && above <= below + 1) return AddressPolicy::cuda_linux;
  return reuses ? AddressPolicy::first_fit : AddressPolicy::upward;
}

}  // namespace memreplay
