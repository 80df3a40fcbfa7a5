#include "replay/phases.hpp"

#include <algorithm>

namespace memreplay {
namespace {

PlanMark mark_of(std::string_view text, std::string_view dynamic) {
  if (text.find(" Layer : ") != text.npos) {
    if (dynamic.empty() || text.find(dynamic) == text.npos) return PlanMark::other;
    if (text.ends_with("-start")) return PlanMark::region_begins;
    return text.ends_with("-end") ? PlanMark::region_ends : PlanMark::other;
  }
  return text.find("micro-batch") == text.npos ? PlanMark::iteration : PlanMark::phase;
}

}  // namespace

bool ProgramPhases::in_region(std::uint64_t time) const {
  const auto after = std::ranges::upper_bound(regions, time, {}, &TimeSpan::from);
  return after != regions.begin() && time < std::prev(after)->to;
}

ProgramPhases phases_of(std::span<const PlannedMarker> markers, std::span<const std::string> texts,
                        std::string_view dynamic) {
  ProgramPhases found;
  bool any_phase = false;
  bool in_region = false;
  for (const PlannedMarker& marker : markers) {
    std::string_view text;
    if (marker.text < texts.size()) text = texts[marker.text];
    const PlanMark mark = mark_of(text, dynamic);
    found.marks.push_back(mark);
    if (mark == PlanMark::other) continue;
    if (mark == PlanMark::iteration) found.iterations.push_back(marker.time);
    any_phase |= mark == PlanMark::phase;
    if (mark == PlanMark::iteration || mark == PlanMark::phase) {
      found.phases.push_back(marker.time);
      if (mark == PlanMark::phase) continue;
    }
    if (in_region) found.regions.back().to = marker.time;
    in_region = mark == PlanMark::region_begins;
    if (in_region) found.regions.push_back({marker.time, PlannedRequest::kForever});
  }
  if (!any_phase) found.phases.clear();
  return found;
}

}  // namespace memreplay
