#include "report/find/axes.hpp"

#include <fmt/format.h>

#include "report/find/phrases.hpp"
#include "report/page/html.hpp"
#include "report/parts/sizes.hpp"

namespace memreplay {
namespace {

constexpr Bytes kMostSizesNamed = 6;
constexpr std::int64_t kMostValuesNamed = 10;

Bytes step_of_sizes(Bytes top) {
  Bytes step = 1;
  while (top / step > kMostSizesNamed) step *= 2;
  return step;
}

/// 1, 2, 5, 10, 20, …
std::int64_t step_of_values(std::int64_t last) {
  for (std::int64_t step = 1;; step *= 10) {
    for (const std::int64_t part : {1, 2, 5}) {
      if (last / (part * step) <= kMostValuesNamed) return part * step;
    }
  }
}

}  // namespace

double ValueAxes::x(std::int64_t value) const {
  return kLeft + (kRight - kLeft) * static_cast<double>(value) / static_cast<double>(last_);
}

double ValueAxes::y(Bytes size) const {
  return kBottom - (kBottom - kTop) * static_cast<double>(size) / static_cast<double>(top_);
}

std::string ValueAxes::text(const std::string& name) const {
  std::string out;
  const Bytes size_step = step_of_sizes(top_);
  std::vector<Bytes> sizes;
  for (Bytes size = size_step; size <= top_; size += size_step) sizes.push_back(size);
  std::vector<std::string> names = sizes_beside(sizes);
  sizes.push_back(0);
  names.emplace_back("0");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    out += fmt::format(
        "<path class=\"grid\" d=\"M{0} {1:.1f}H{2}\"/><text x=\"{3}\" y=\"{4:.1f}\" "
        "class=\"end\">{5}</text>\n",
        kLeft, y(sizes[i]), kRight, kLeft - 8, y(sizes[i]) + 5, names[i]);
  }
  const std::int64_t value_step = step_of_values(last_);
  for (std::int64_t value = 0; value <= last_; value += value_step) {
    out += fmt::format(
        "<path class=\"grid\" d=\"M{0:.1f} {1}V{2}\"/><text x=\"{0:.1f}\" y=\"{3}\" "
        "class=\"middle\">{4}</text>\n",
        x(value), kBottom, kBottom + 5, kBottom + 22, value_name(value));
  }
  out += fmt::format("<text x=\"{}\" y=\"{}\" class=\"middle\">{}</text>\n", (kLeft + kRight) / 2,
                     kBottom + 46, escaped(name));
  return out + fmt::format("<text x=\"{}\" y=\"{}\">peak memory</text>\n", 8, kTop - 14);
}

}  // namespace memreplay
