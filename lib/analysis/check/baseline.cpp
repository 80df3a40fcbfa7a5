#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "analysis/check/answer.hpp"
#include "core/error.hpp"

namespace memreplay {
namespace {

auto place_of(const BaselineEntry& entry) {
  return std::tie(entry.trace, entry.gpu, entry.setup.strategy);
}

}  // namespace

BaselineEntry* Baseline::find(const std::string& trace, int gpu, const std::string& strategy) {
  const auto found = std::ranges::find_if(entries, [&](const BaselineEntry& entry) {
    return place_of(entry) == std::tie(trace, gpu, strategy);
  });
  return found == entries.end() ? nullptr : &*found;
}

BaselineEntry& Baseline::add(BaselineEntry entry) {
  if (find(entry.trace, entry.gpu, entry.setup.strategy) != nullptr) {
    throw UsageError(fmt::format("{} gpu {} under {} is there twice", entry.trace, entry.gpu,
                                 entry.setup.strategy));
  }
  const auto behind = std::ranges::find_if(
      entries, [&](const BaselineEntry& other) { return place_of(entry) < place_of(other); });
  return *entries.insert(behind, std::move(entry));
}

}  // namespace memreplay
