#include "core/oom_message.hpp"

#include <algorithm>

namespace memreplay {
namespace {

constexpr std::string_view kFigureNames[] = {
#define MEMREPLAY_FIGURE(name, label) #name,
#include "core/oom_message.def"
};
constexpr std::string_view kFigureLabels[] = {
#define MEMREPLAY_FIGURE(name, label) label,
#include "core/oom_message.def"
};
constexpr std::string_view kCountNames[] = {
#define MEMREPLAY_COUNT(name) #name,
#include "core/oom_message.def"
};
constexpr std::string_view kWordNames[] = {
#define MEMREPLAY_WORD(name) #name,
#include "core/oom_message.def"
};

}  // namespace

std::optional<RoundedBytes> sum_of(const std::optional<RoundedBytes>& a,
                                   const std::optional<RoundedBytes>& b) {
  if (!a || !b) return std::nullopt;
  return RoundedBytes{a->bytes + b->bytes, a->within + b->within};
}

std::optional<RoundedBytes> difference_of(const std::optional<RoundedBytes>& a,
                                          const std::optional<RoundedBytes>& b) {
  if (!a || !b) return std::nullopt;
  return RoundedBytes{a->bytes - std::min(a->bytes, b->bytes), a->within + b->within};
}

std::string_view name_of(Figure figure) { return kFigureNames[static_cast<std::size_t>(figure)]; }
std::string_view name_of(Count count) { return kCountNames[static_cast<std::size_t>(count)]; }
std::string_view name_of(OomWord word) { return kWordNames[static_cast<std::size_t>(word)]; }
std::string_view label_of(Figure figure) { return kFigureLabels[static_cast<std::size_t>(figure)]; }

}  // namespace memreplay
