#include "extensions/diff/phrases.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "extensions/diff/diff_report.hpp"
#include "report/formats/format.hpp"
#include "report/parts/sentences.hpp"
#include "report/parts/sizes.hpp"

namespace memreplay {
namespace {

// "8 x 4 MiB, 1 x 512 B"; only how many where sizes are many.
std::string listed(const PlaceDiff& place, std::uint64_t SizeDiff::*side,
                   std::uint64_t SizeDiff::*other) {
  constexpr std::size_t kMost = 2;
  std::string text;
  std::size_t sizes = 0;
  std::uint64_t blocks = 0;
  for (const SizeDiff& size : place.sizes) {
    if (size.*side <= size.*other) continue;
    const std::uint64_t unmatched = size.*side - size.*other;
    if (++sizes <= kMost) {
      text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", human_count(unmatched),
                          human_size(size.size));
    }
    blocks += unmatched;
  }
  if (sizes <= kMost) return text;
  return fmt::format("{} blocks of {} sizes", human_count(blocks), human_count(sizes));
}

/// A reserved peak and, where it is an estimate, its range.
struct Reserved {
  Bytes bytes = 0;
  std::optional<BytesInterval> range;

  BytesInterval bounds() const { return range.value_or(BytesInterval{bytes, bytes}); }
  std::string text(const std::string& exact) const {
    return range ? estimated_text(bytes, *range) : exact;
  }
};

Reserved reserved_of(const Run& run) {
  Reserved reserved{.bytes = run.metrics.peak_reserved};
  if (run.interval) reserved.range = run.interval->peak_reserved;
  return reserved;
}

// Peaks within a step are of the replays, not estimated.
Reserved reserved_of(const SidePeaks& side, Bytes peak, std::uint64_t at_step) {
  Reserved reserved{.bytes = peak};
  if (at_step == 0 && side.run) reserved.range = reserved_of(*side.run).range;
  return reserved;
}

bool same(const BytesInterval& a, const BytesInterval& b) {
  return a.low == b.low && a.high == b.high;
}

ReservedApart reserved_apart(const Reserved& a, const Reserved& b) {
  const auto [shown_a, shown_b] = sizes_apart(a.bytes, b.bytes);
  ReservedApart apart{
      .a = a.text(shown_a),
      .b = b.text(shown_b),
      .change = size_change(a.bytes, b.bytes),
      .difference = human_size(std::max(a.bytes, b.bytes) - std::min(a.bytes, b.bytes))};
  if (!a.range && !b.range) return apart;
  const BytesInterval of_a = a.bounds();
  const BytesInterval of_b = b.bounds();
  if (a.bytes == b.bytes && same(of_a, of_b)) return apart;
  apart.undecided = of_a.low <= of_b.high && of_b.low <= of_a.high;
  apart.change = apart.undecided ? "undecided" : "≈ " + apart.change;
  apart.difference = "≈ " + apart.difference;
  return apart;
}

}  // namespace

std::pair<std::string, std::string> sizes_apart(Bytes a, Bytes b) {
  std::pair<std::string, std::string> text{human_size(a), human_size(b)};
  if (a == b || text.first != text.second) return text;
  const std::vector<std::string> both = sizes_beside({a, b});
  text = {both[0], both[1]};
  if (text.first == text.second) {
    text = {human_count(a) + " B", human_count(b) + " B"};
  }
  return text;
}

std::string size_change(Bytes before, Bytes now) {
  if (before == now) return "0";
  return before < now ? "+" + human_size(now - before) : "-" + human_size(before - now);
}

std::string count_change(std::uint64_t before, std::uint64_t now) {
  if (before == now) return "0";
  return before < now ? "+" + human_count(now - before) : "-" + human_count(before - now);
}

std::string blocks_phrase(const PlaceDiff& place) {
  const std::string gone = listed(place, &SizeDiff::a_blocks, &SizeDiff::b_blocks);
  const std::string fresh = listed(place, &SizeDiff::b_blocks, &SizeDiff::a_blocks);
  if (gone.empty()) return fresh.empty() ? "" : "+" + fresh;
  if (fresh.empty()) return "-" + gone;
  return gone + " -> " + fresh;
}

std::string place_phrase(const PlaceDiff& place) {
  std::string phrase = place.place.name;
  if (place.place.renamed) phrase += fmt::format(" (was {})", place.place.before.front());
  if (place.private_pool) phrase += ", private pool";
  if (place.stream != 0) phrase += fmt::format(", side stream {}", place.stream);
  return phrase;
}

ReservedApart reserved_apart(const Run& a, const Run& b) {
  return reserved_apart(reserved_of(a), reserved_of(b));
}

std::optional<ReservedApart> reserved_apart(const RecordingsDiff& diff) {
  if (!diff.a_peak.reserved || !diff.b_peak.reserved) return std::nullopt;
  return reserved_apart(reserved_of(diff.a, *diff.a_peak.reserved, diff.at_step),
                        reserved_of(diff.b, *diff.b_peak.reserved, diff.at_step));
}

std::string to_markdown(const RecordingsAnswer& answer) {
  return answer_and_table(to_text(answer, {}), to_table(answer));
}

std::string to_markdown(const StrategiesAnswer& answer) {
  return answer_and_table(to_text(answer, {}), to_table(answer));
}

}  // namespace memreplay
