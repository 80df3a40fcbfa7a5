#include "report/explain/phases.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "report/explain/tree.hpp"

namespace memreplay {
namespace {

// The highest phases, the first among equals, in the order in which they begin.
std::vector<const PhasePeak*> shown_of(const Explanation& e) {
  std::vector<const PhasePeak*> shown;
  for (const PhasePeak& phase : e.phases) shown.push_back(&phase);
  if (shown.size() <= e.rows) return shown;
  std::ranges::stable_sort(shown, std::greater{}, &PhasePeak::peak_requested);
  shown.resize(e.rows);
  std::ranges::sort(shown);
  return shown;
}

std::vector<std::string> row_of(const PhasePeak& phase) {
  std::vector<std::string> row = {
      std::string(3 + 2 * std::min(phase.depth, 5u), ' ') + shortened(phase.name),
      human_count(phase.times), human_size(phase.peak_requested), human_count(phase.peak_event),
      human_size(phase.peak_reserved)};
  if (!phase.use) return row;
  row.push_back(human_size(phase.use->waste()));
  row.push_back(phase.use->most.place.empty()
                    ? "-"
                    : fmt::format("{} {}", human_size(phase.use->most.bytes),
                                  shortened(phase.use->most.place)));
  return row;
}

}  // namespace

void append_phases(Sheet& out, const Explanation& e) {
  if (e.phases.empty()) {
    if (!e.by_phase) return;
    out += '\n';
    return append_paragraph(out,
                            "No phases: nothing is annotated, and no steps are marked or seen to "
                            "repeat. --phase NAME=FROM:TO names events.",
                            2);
  }
  Table table{{{" Phase", true}, {"times"}, {"peak requested"}, {"at event"}, {"peak reserved"}},
              {}};
  if (e.by_phase) {
    table.columns[1].spare = 1;
    table.columns.push_back({"waste then"});
    table.columns.push_back({"who holds most", true});
  }
  for (const PhasePeak* phase : shown_of(e)) {
    table.rows.push_back(row_of(*phase));
    table.rows.back().resize(table.columns.size(), "-");
  }
  if (table.rows.size() < e.phases.size()) {
    table.rows.push_back(
        {fmt::format("… and {} more", human_count(e.phases.size() - table.rows.size()))});
    table.rows.back().resize(table.columns.size());
  }
  out += '\n';
  append_table(out, table);
}

Table phases_table(const ExplainAnswer& answer) {
  Table table{{{"trace", true},
               {"gpu"},
               {"phase", true},
               {"times"},
               {"peak_requested_bytes"},
               {"peak_event"},
               {"peak_reserved_bytes"},
               {"waste_bytes"},
               {"place", true},
               {"place_bytes"}},
              {}};
  for (const ExplainedDevice& device : answer.devices) {
    for (const PhasePeak& phase : device.explanation.phases) {
      table.rows.push_back({device.trace.path, std::to_string(device.trace.gpu), phase.name,
                            std::to_string(phase.times), std::to_string(phase.peak_requested),
                            std::to_string(phase.peak_event), std::to_string(phase.peak_reserved),
                            phase.use ? std::to_string(phase.use->waste()) : "",
                            phase.use ? phase.use->most.place : "",
                            phase.use ? std::to_string(phase.use->most.bytes) : ""});
    }
  }
  return table;
}

}  // namespace memreplay
