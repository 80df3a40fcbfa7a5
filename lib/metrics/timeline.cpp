#include "metrics/timeline.hpp"

#include <fmt/format.h>

#include <iterator>

namespace memreplay {

void append_csv(std::string& out, const TimelinePoint& point) {
  auto at = std::back_inserter(out);
  fmt::format_to(at, "{},", point.event);
  if (point.time_us) fmt::format_to(at, "{}", *point.time_us);
  fmt::format_to(at, ",{},{},{}\n", point.requested, point.allocated, point.reserved);
}

}  // namespace memreplay
