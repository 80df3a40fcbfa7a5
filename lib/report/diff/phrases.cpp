#include "report/diff/phrases.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

// "8 x 4 MiB, 1 x 512 B"; of many sizes only how many.
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

}  // namespace

std::pair<std::string, std::string> sizes_apart(Bytes a, Bytes b) {
  std::pair<std::string, std::string> text{human_size(a), human_size(b)};
  if (a != b && text.first == text.second) {
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
  if (place.private_pool) phrase += ", private pool";
  if (place.stream != 0) phrase += fmt::format(", side stream {}", place.stream);
  return phrase;
}

}  // namespace memreplay
