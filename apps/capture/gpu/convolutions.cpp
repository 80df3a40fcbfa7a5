#include "convolutions.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/units.hpp"

namespace memreplay::gpu {
namespace {

constexpr std::uint64_t kBesideTheCopies = 16;
constexpr std::uint64_t kOfASum = 4;
constexpr std::uint64_t kMostApart = 32 << 20;
constexpr std::uint64_t kLongSum = 330'000;  // places

std::uint64_t product(const std::vector<std::uint64_t>& sizes, std::size_t from) {
  return std::accumulate(sizes.begin() + static_cast<std::ptrdiff_t>(from), sizes.end(),
                         std::uint64_t{1}, std::multiplies{});
}

bool are_all(const std::vector<std::uint64_t>& numbers, std::uint64_t number) {
  return std::ranges::all_of(numbers, [&](std::uint64_t each) { return each == number; });
}

bool is_matrix_product(const Convolution& of) {
  return product(of.filter, 2) == 1 && are_all(of.strides, 1) && are_all(of.padding, 0);
}

/// Too little work for copies: a kernel reads the tensors as they are.
bool reads_in_place(const Convolution& of) {
  const std::uint64_t taps = product(of.filter, 2);
  const std::uint64_t depth = of.input[1] * taps;
  const std::uint64_t places = of.output[0] * product(of.output, 2);
  if (of.element < 4) return depth <= 114 && (of.input[1] > 12 || depth <= 31 || places <= 16642);
  const double work = 2. * static_cast<double>(places) * static_cast<double>(of.output[1]) *
                      static_cast<double>(depth);
  return work < (of.pass == Convolution::Pass::forward ? 9e8 : 2.3e8);
}

/// A filter's gradient is a sum over many places: each multiprocessor sums a part of them for one
/// tile of the filter.
std::uint64_t bytes_of_partial_sums(const Convolution& of) {
  const std::uint64_t side = of.filter[0] >= 128 ? 128 : 64;
  const std::uint64_t tiles =
      round_up(of.filter[0], side) / side * (round_up(product(of.filter, 1), side) / side);
  if (tiles == 0) return 0;
  const std::uint64_t whole = std::max<std::uint64_t>(of.multiprocessors / tiles, 1);
  return std::min(whole * tiles, of.multiprocessors) * side * side * kOfASum;
}

}  // namespace

std::uint64_t workspace_of(const Convolution& of) {
  const bool in_groups = of.input[1] != of.filter[1];
  if (of.channels_last || in_groups) return 0;
  const bool of_filter = of.pass == Convolution::Pass::filter;
  if (is_matrix_product(of)) {
    if (!of_filter || product(of.output, 2) == 1) return 0;
    // The filter's gradient of each entry of the batch, as long as that is not too much.
    const std::uint64_t apart = of.input[0] * product(of.filter, 0) * kOfASum;
    const bool is_long = of.element >= 4 && of.output[0] * product(of.output, 2) > kLongSum;
    if (apart <= kMostApart && !is_long) return apart;
  } else if (reads_in_place(of)) {
    return 0;
  }
  const std::uint64_t step = of.element < 4 ? 8 : 4;
  const bool forward = of.pass == Convolution::Pass::forward;
  const bool reads_any_channels = forward && (of.element >= 4 || of.is_float16);
  const std::uint64_t in = reads_any_channels ? of.input[1] : round_up(of.input[1], step);
  const std::uint64_t out = round_up(of.output[1], step);
  const std::uint64_t taps = product(of.filter, 2);
  const std::uint64_t copied = of.input[0] * in * product(of.input, 2) +
                               of.output[0] * out * product(of.output, 2) +
                               (taps == 1 ? 0 : out * in * taps);
  return copied * of.element + kBesideTheCopies + (of_filter ? bytes_of_partial_sums(of) : 0);
}

}  // namespace memreplay::gpu
