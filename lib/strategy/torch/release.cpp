#include "strategy/torch/release.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay::torch {

Release::TieBreak Release::tie_break() const {
  if (has(13)) return TieBreak::segment_number;
  return has(12) ? TieBreak::object_number : TieBreak::address;
}

std::string Release::text() const { return fmt::format("{}.{}.{}", major, minor, patch); }

Release parse_release(std::string_view text) {
  if (text.empty()) return kNewestRelease;
  Release release{0, 0, 0};
  std::string_view rest = text.substr(0, text.find('+'));
  for (int* part : {&release.major, &release.minor, &release.patch}) {
    const std::string_view number = rest.substr(0, rest.find('.'));
    const auto value = parse_whole(number);
    if (!value || *value > 999) break;
    *part = static_cast<int>(*value);
    rest.remove_prefix(number.size() == rest.size() ? rest.size() : number.size() + 1);
    if (rest.empty()) break;
  }
  const Release behind_newest{kNewestRelease.major, kNewestRelease.minor + 1, 0};
  if (!rest.empty() || release < kOldestRelease || release >= behind_newest) {
    throw UsageError(fmt::format(
        "'{}' is not a release of PyTorch with known rules; expected {}.{} to {}.{}, for example "
        "2.6.0",
        text, kOldestRelease.major, kOldestRelease.minor, kNewestRelease.major,
        kNewestRelease.minor));
  }
  return release;
}

}  // namespace memreplay::torch
