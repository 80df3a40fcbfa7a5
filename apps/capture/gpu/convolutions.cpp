#include "convolutions.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include "convolution_engines.hpp"
#include "core/units.hpp"

namespace memreplay::gpu {
namespace {

constexpr std::uint64_t kBesideTheCopies = 16;
constexpr std::uint64_t kOfASum = 4;

std::uint64_t product(const std::vector<std::uint64_t>& sizes, std::size_t from) {
  return std::accumulate(sizes.begin() + static_cast<std::ptrdiff_t>(from), sizes.end(),
                         std::uint64_t{1}, std::multiplies{});
}

bool are_all(const std::vector<std::uint64_t>& numbers, std::uint64_t number) {
  return std::ranges::all_of(numbers, [&](std::uint64_t each) { return each == number; });
}

/// The numbers that decide between engines. `read` and `made` are channels of one group.
struct Shape {
  explicit Shape(const Convolution& of)
      : batch(of.input[0]),
        read(of.filter[1]),
        groups(std::max<std::uint64_t>(of.input[1] / std::max<std::uint64_t>(read, 1), 1)),
        made(of.filter[0] / groups),
        taps(product(of.filter, 2)),
        plane(product(of.input, 2)),
        plane_out(product(of.output, 2)),
        stride(of.strides.empty() ? 1 : of.strides[0]),
        forward(of.pass == Convolution::Pass::forward) {}

  std::uint64_t batch, read, groups, made, taps, plane, plane_out, stride;
  bool forward;

  std::uint64_t filter() const { return groups * made * read * taps; }
  /// The product of matrices that the pass comes to: places by channels.
  std::uint64_t rows() const { return batch * (forward ? plane_out : plane); }
  std::uint64_t columns() const { return groups * (forward ? made : read); }
};

// What an engine keeps beside the copies of tensors, each found in the answers of cuDNN 9.19 to
// convolutions that differ in one size.

std::uint64_t none(const Convolution&, const Shape&) { return 0; }

/// Partial sums of tiles, where the products are split along their depth.
std::uint64_t partial_sums(const Convolution& of, const Shape& shape) {
  return round_up(shape.rows(), 64) * round_up(shape.columns(), of.element == 4 ? 32 : 64) *
         kOfASum;
}

/// Partial sums of a filter's gradient: as many tiles as there are multiprocessors, about.
std::uint64_t partial_sums_of_filter(const Convolution& of, const Shape& shape) {
  const std::uint64_t side = of.filter[0] >= 128 ? 128 : 64;
  const std::uint64_t tiles =
      round_up(of.filter[0], side) / side * (round_up(shape.read * shape.taps, side) / side);
  if (tiles == 0) return 0;
  const std::uint64_t whole = std::max<std::uint64_t>(of.multiprocessors / tiles, 1);
  return std::min(whole * tiles, of.multiprocessors) * side * side * kOfASum;
}

/// Where in the tensor each place of a filter begins (engines with precomputed offsets).
std::uint64_t offsets(const Convolution&, const Shape& shape) {
  const std::uint64_t places = shape.forward ? shape.plane_out : shape.plane;
  return round_up(6 * places + 16, 128) + (shape.forward ? 0 : 2176);
}

/// A filter of 3 x 3 turned around (36 bytes) and transformed to 4 x 4 floats, channels padded.
std::uint64_t winograd(const Convolution& of, const Shape& shape) {
  const std::uint64_t in = shape.forward ? shape.read : shape.made;
  const std::uint64_t out = shape.forward ? shape.made : shape.read;
  const std::uint64_t turned = of.channels_last ? 72 * in * out : 36 * in * out;
  return shape.groups * (turned + 64 * round_up(in, 8) * round_up(out, 32)) + 4 * out;
}

std::uint64_t winograd_in_place(const Convolution& of, const Shape& shape) {
  Convolution plain = of;
  plain.channels_last = false;
  return winograd(plain, shape);
}

/// The filter once more, cut into the parts that each phase of a stride reads.
std::uint64_t phases(const Convolution& of, const Shape& shape) {
  if (shape.stride == 1) return 0;
  return (shape.filter() + shape.filter() / std::max<std::uint64_t>(of.filter[2], 1)) * of.element;
}

/// An engine by what it copies: of input, filter, output and source (S: what the pass reads beside
/// the filter) those that do not lie as it reads them; W: the filter even if it is one place.
struct Engine {
  std::string_view name;
  std::string_view copied;
  bool wants_last = true;
  std::uint64_t padded_to = 0;  ///< channels; 0: as many as are 16 bytes
  std::uint64_t (*beside)(const Convolution&, const Shape&) = none;
};
constexpr Engine kEngines[] = {
    {"-", ""},
    {"all", "IFO"},
    {"raw", "IFO", true, 1},
    {"src", "SF"},
    {"first", "IFO", false, 1},
    {"fsrc", "SF", false, 1},
    {"all4", "IFO", true, 4},
    {"split", "SW", true, 0, partial_sums},
    {"sums", "IWO", true, 0, partial_sums},
    {"tiles", "IFO", true, 0, partial_sums_of_filter},
    {"wino", "", true, 0, winograd_in_place},
    {"winoio", "IO", false, 1, winograd},
    {"offs", "", true, 0, offsets},
    {"phase", "IFO", true, 4, phases},
    {"allw", "IWO"},
};

std::uint64_t workspace_of(const Engine& engine, const Convolution& of) {
  const Shape shape(of);
  const bool moves = of.channels_last != engine.wants_last;
  std::uint64_t unit = engine.padded_to ? engine.padded_to : of.element < 4 ? 8 : 4;
  if (shape.groups > 1 && shape.read == 1) unit = 1;  // depthwise
  std::uint64_t read = round_up(shape.read, unit);
  std::uint64_t made = round_up(shape.made, unit);
  if (shape.groups > 1 && unit > 1) read = made = std::max(read, made);
  const bool pads_read = read != shape.read;
  const bool pads_made = made != shape.made;
  std::uint64_t copied = 0;
  for (const char tensor : engine.copied) {
    const char what = tensor != 'S' ? tensor : shape.forward ? 'I' : 'O';
    if (what == 'I' && (moves || pads_read))
      copied += shape.batch * shape.groups * read * shape.plane;
    if (what == 'O' && (moves || pads_made))
      copied += shape.batch * shape.groups * made * shape.plane_out;
    if ((what == 'W' && moves) || (what == 'F' && moves && shape.taps > 1) ||
        ((what == 'W' || what == 'F') && (pads_read || pads_made)))
      copied += shape.groups * made * read * shape.taps;
  }
  const std::uint64_t bytes = copied * of.element + engine.beside(of, shape);
  return bytes ? bytes + kBesideTheCopies : 0;
}

/// The numbers that the trees ask for, by their names there.
double number(std::string_view name, const Convolution& of) {
  const Shape shape(of);
  const auto c = static_cast<double>(shape.read);
  const auto k = static_cast<double>(shape.made);
  const auto g = static_cast<double>(shape.groups);
  const auto n = static_cast<double>(shape.batch);
  const auto hw = static_cast<double>(shape.plane);
  const auto pq = static_cast<double>(shape.plane_out);
  const auto w = static_cast<double>(shape.filter());
  const double work = 2 * n * pq * w;
  const std::pair<std::string_view, double> numbers[] = {
      {"nhwc", of.channels_last},  // the layout
      {"f32", of.element == 4},
      {"f16", of.is_float16},
      {"tf32", of.tensor_cores},
      {"taps", static_cast<double>(shape.taps)},
      {"s", static_cast<double>(shape.stride)},
      {"d", of.dilations.empty() ? 1. : static_cast<double>(of.dilations[0])},
      {"g", g},
      {"c", c * g},
      {"k", k * g},
      {"cg", c},
      {"kg", k},
      {"n", n},
      {"hw", hw},
      {"pq", pq},
      {"w", w},
      {"work", work / 1e6},
      {"ai", work / (n * c * g * hw + n * k * g * pq + w)},
      {"cmod", static_cast<double>(std::gcd(shape.read, std::uint64_t{8}))},
      {"depth", (shape.forward ? c : k) * static_cast<double>(shape.taps)},
      {"sm", static_cast<double>(of.multiprocessors)},
  };
  return std::ranges::find(numbers, name, &std::pair<std::string_view, double>::first)->second;
}

/// A tree in words: a number's name and a bound, what holds below it, what holds from it on; or an
/// engine. Takes the tree from the text; null: not for this convolution, only skipped.
const Engine* chosen(std::string_view& text, const Convolution* of) {
  const auto next = [&] {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    return word;
  };
  const std::string_view word = next();
  const auto* const engine = std::ranges::find(kEngines, word, &Engine::name);
  if (engine != std::end(kEngines)) return engine;
  const std::string_view bound = next();
  double limit = 0;
  std::from_chars(bound.data(), bound.data() + bound.size(), limit);
  const bool below = of && number(word, *of) < limit;
  const Engine* const low = chosen(text, below ? of : nullptr);
  const Engine* const high = chosen(text, below ? nullptr : of);
  return below ? low : high;
}

/// The sum over many places: each multiprocessor sums a part of them for one tile of the filter.
std::uint64_t filter_on_hopper(const Convolution& of) {
  constexpr std::uint64_t kMostApart = 32 << 20;
  constexpr std::uint64_t kLongSum = 330'000;  // places
  const Shape shape(of);
  if (of.channels_last || shape.groups > 1) return 0;
  const std::uint64_t places = shape.batch * shape.plane_out;
  if (shape.taps == 1 && are_all(of.strides, 1) && are_all(of.padding, 0)) {
    if (shape.plane_out == 1) return 0;
    // The filter's gradient of each entry of the batch, as long as that is not too much.
    const std::uint64_t apart = shape.batch * product(of.filter, 0) * kOfASum;
    const bool is_long = of.element >= 4 && places > kLongSum;
    if (apart <= kMostApart && !is_long) return apart;
  } else if (of.element < 4) {
    const std::uint64_t depth = shape.read * shape.taps;
    if (depth <= 114 && (shape.read > 12 || depth <= 31 || places <= 16642)) return 0;
  } else if (2. * static_cast<double>(places) * static_cast<double>(shape.filter()) < 2.3e8) {
    return 0;
  }
  const std::uint64_t unit = of.element < 4 ? 8 : 4;
  const std::uint64_t in = round_up(shape.read, unit);
  const std::uint64_t out = round_up(shape.made, unit);
  const std::uint64_t copied =
      shape.batch * in * shape.plane + places * out + (shape.taps == 1 ? 0 : out * in * shape.taps);
  return copied * of.element + kBesideTheCopies + partial_sums_of_filter(of, shape);
}

}  // namespace

std::uint64_t workspace_of(const Convolution& of) {
  if (of.pass == Convolution::Pass::filter && of.capability == 90) return filter_on_hopper(of);
  if (of.capability < 80 && of.element == 2 && !of.is_float16) return 0;  // no engine has bfloat16
  const auto* const card = std::ranges::find_if(
      kCards, [&](const CardEngines& each) { return of.capability < each.below; });
  const CardEngines& engines = card == std::end(kCards) ? std::end(kCards)[-1] : *card;
  std::string_view tree = of.pass == Convolution::Pass::forward ? engines.forward
                          : of.pass == Convolution::Pass::data  ? engines.data
                                                                : engines.filter;
  return workspace_of(*chosen(tree, &of), of);
}

}  // namespace memreplay::gpu
