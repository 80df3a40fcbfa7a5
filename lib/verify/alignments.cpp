#include "verify/alignments.hpp"

#include <algorithm>

#include "core/torch_sizes.hpp"

namespace memreplay {
namespace {

// Largest first: most large requests in expandable segments begin at multiples of it. Not all: some
// found no room for that.
std::vector<Bytes> seen_alignments(const Trace& trace) {
  constexpr Bytes kLargest = 16 * kKiB;
  std::vector<Address> large;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const bool is_large = trace.ops[i] == Op::allocate && trace.sizes[i] >= torch::kRoundLarge;
    if (is_large) large.push_back(trace.addresses[i]);
  }
  std::vector<Bytes> found;
  for (Bytes alignment = kLargest; alignment > 0; alignment -= kKiB) {
    const auto aligned =
        std::ranges::count_if(large, [&](Address at) { return at % alignment == 0; });
    if (static_cast<std::size_t>(aligned) * 4 >= large.size() * 3) found.push_back(alignment);
  }
  return found;
}

}  // namespace

std::vector<Bytes> possible_alignments(const RecordedSettings& settings, const Trace& trace,
                                       Bytes padding) {
  const bool may_align =
      padding > 0 || !settings.present || settings.conf_variable == "PYTORCH_NPU_ALLOC_CONF";
  if (!settings.expandable_segments.value_or(false) || !may_align) return {0};
  if (settings.large_alignment) return {*settings.large_alignment};
  std::vector<Bytes> found = seen_alignments(trace);
  found.insert(padding > 0 ? found.end() : found.begin(), 0);
  return found;
}

}  // namespace memreplay
