#include "extensions/planner/partial_packing.hpp"

namespace memreplay {

PartialPacking::PartialPacking(const PlanningProblem& problem, const Sections& sections,
                               Bytes capacity)
    : problem_(problem),
      sections_(sections),
      capacity_(static_cast<Height>(capacity)),
      placed_(problem.blocks.size()),
      watched_(problem.blocks.size(), kNone),
      ceiling_(sections.count(), capacity_),
      witness_(sections.count(), kNone),
      next_watched_(sections.count(), kNone),
      last_watched_(sections.count(), kNone),
      spanning_(sections.count()) {
  for (Row row = 0; row < problem.blocks.size(); ++row) add(row);
  for (std::uint32_t s = 0; s < sections.count(); ++s) hopeless_ |= !find_witness(s);
}

void PartialPacking::add(Row row) {
  const auto place = problem_.place_of(row);
  fixed_.push_back(place ? static_cast<Height>(*place) : kTooHigh);
  lowest_.push_back(place ? fixed_[row] : 0);
  sizes_.push_back(static_cast<Height>(problem_.blocks[row].size));
  hopeless_ |= top(row) > capacity_;
  if (sections_.runs[row].empty()) return;
  for (const Sections::Run& run : sections_.runs[row]) {
    for (std::uint32_t s = run.first; s < run.last; ++s) {
      ceiling_[s] -= static_cast<Height>(run.bytes);
    }
  }
  for (std::uint32_t s = sections_.first(row); s + 1 < sections_.last(row); ++s) ++spanning_[s];
}

bool PartialPacking::place(Row row) {
  placed_[row] = 1;
  for (const Sections::Run& run : sections_.runs[row]) {
    for (std::uint32_t s = run.first; s < run.last; ++s) {
      ceiling_[s] += static_cast<Height>(run.bytes);
    }
  }
  cuts_.clear();
  for (std::uint32_t s = sections_.first(row); s + 1 < sections_.last(row); ++s) {
    if (--spanning_[s] == 0) cuts_.push_back(s + 1);
  }
  return raise_neighbours(row) && keep_witnesses(row);
}

void PartialPacking::take_back(Row row, Mark mark) {
  while (old_witnesses_.size() > mark.witnesses) {
    set_witness(old_witnesses_.back().section, old_witnesses_.back().row);
    old_witnesses_.pop_back();
  }
  while (old_offsets_.size() > mark.offsets) {
    lowest_[old_offsets_.back().row] = old_offsets_.back().offset;
    old_offsets_.pop_back();
  }
  for (const Sections::Run& run : sections_.runs[row]) {
    for (std::uint32_t s = run.first; s < run.last; ++s) {
      ceiling_[s] -= static_cast<Height>(run.bytes);
    }
  }
  for (std::uint32_t s = sections_.first(row); s + 1 < sections_.last(row); ++s) ++spanning_[s];
  placed_[row] = 0;
}

bool PartialPacking::raise_neighbours(Row row) {
  hatless_ = true;
  const std::size_t before = old_offsets_.size();
  const Height offset = lowest_[row];
  const Height top = this->top(row);
  const std::vector<std::uint32_t>& begins = sections_.neighbours.begins;
  for (std::uint32_t i = begins[row]; i < begins[row + 1]; ++i) {
    const Row other = sections_.neighbours.items[i];
    if (is_placed(other)) continue;
    hatless_ = false;
    const Height above =
        sections_.has_windows() ? offset + static_cast<Height>(sections_.rises[i]) : top;
    if (lowest_[other] < above && !rise(other, above)) return false;
  }
  for (std::size_t i = before; i < old_offsets_.size(); ++i) {
    if (!keep_witnesses(old_offsets_[i].row)) return false;
  }
  return true;
}

bool PartialPacking::rise(Row row, Height offset) {
  const auto alignment = static_cast<Height>(problem_.blocks[row].alignment);
  old_offsets_.push_back({row, lowest_[row]});
  lowest_[row] = (offset + alignment - 1) & -alignment;
  return top(row) <= capacity_ && lowest_[row] <= fixed_[row];
}

/// For the sections that watch a block that was placed or moved.
bool PartialPacking::keep_witnesses(Row row) {
  for (std::uint32_t section = watched_[row]; section != kNone;) {
    const std::uint32_t next = next_watched_[section];
    if (is_placed(row) || lowest_[row] > ceiling_[section]) {
      old_witnesses_.push_back({section, row});
      if (!find_witness(section)) return false;
    }
    section = next;
  }
  return true;
}

/// The lowest of a section's blocks; false where even that is above the ceiling.
bool PartialPacking::find_witness(std::uint32_t section) {
  Row best = kNone;
  Height lowest = kTooHigh;
  for (const Row row : sections_.members[section]) {
    if (!is_placed(row) && lowest_[row] < lowest) {
      best = row;
      lowest = lowest_[row];
    }
  }
  set_witness(section, best);
  return best == kNone || lowest <= ceiling_[section];
}

void PartialPacking::set_witness(std::uint32_t section, Row row) {
  const Row old = witness_[section];
  if (old == row) return;
  if (old != kNone) {
    const std::uint32_t next = next_watched_[section];
    const std::uint32_t last = last_watched_[section];
    (last == kNone ? watched_[old] : next_watched_[last]) = next;
    if (next != kNone) last_watched_[next] = last;
  }
  witness_[section] = row;
  if (row == kNone) return;
  next_watched_[section] = watched_[row];
  last_watched_[section] = kNone;
  if (watched_[row] != kNone) last_watched_[watched_[row]] = section;
  watched_[row] = section;
}

}  // namespace memreplay
