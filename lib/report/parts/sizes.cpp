#include "report/parts/sizes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"

namespace memreplay {
namespace {

bool is_in_gibibytes(Bytes size) { return human_size(size).ends_with(" GiB"); }

// Sizes of one magnitude share a unit.
bool are_near(const std::vector<Bytes>& sizes) {
  constexpr Bytes kMagnitude = 10;
  const auto [least, most] = std::ranges::minmax(sizes);
  return least >= kGiB && least >= most / kMagnitude;
}

std::vector<std::string> with_decimals(const std::vector<Bytes>& sizes, int decimals) {
  const bool all = are_near(sizes);
  std::vector<std::string> texts;
  for (const Bytes size : sizes) {
    const double value = static_cast<double>(size) / static_cast<double>(kGiB);
    texts.push_back(all || is_in_gibibytes(size) ? fmt::format("{:.{}f} GiB", value, decimals)
                                                 : human_size(size));
  }
  return texts;
}

Bytes in_mebibytes(Bytes size) { return (size + kMiB / 2) / kMiB; }

bool tells_apart(const std::vector<Bytes>& sizes, const std::vector<std::string>& texts) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const bool differ = in_mebibytes(sizes[i]) != in_mebibytes(sizes[j]);
      if (differ && texts[i] == texts[j]) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<std::string> sizes_beside(const std::vector<Bytes>& sizes) {
  std::vector<std::string> texts;
  for (const Bytes size : sizes) texts.push_back(human_size(size));
  if (std::ranges::none_of(sizes, is_in_gibibytes)) return texts;
  constexpr int kMost = 3;  // a mebibyte
  const bool small = are_near(sizes) && std::ranges::min(sizes) < 10 * kGiB;
  for (int decimals = small ? 2 : 1; decimals <= kMost; ++decimals) {
    texts = with_decimals(sizes, decimals);
    if (tells_apart(sizes, texts)) break;
  }
  return texts;
}

}  // namespace memreplay
