#include "extensions/stress/order.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace memreplay {
namespace {

void shuffle(std::span<std::uint32_t> steps, Draws& draws) {
  for (std::size_t left = steps.size(); left > 1; --left) {
    std::swap(steps[left - 1], steps[draws.below(left)]);
  }
}

void append_rows(const EventColumns& from, std::size_t begin, std::size_t end, EventColumns& to) {
  for_each_column([&](auto column) {
    const auto& all = from.*column;
    if (all.empty()) return;
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
    (to.*column)
        .insert((to.*column).end(), first, first + static_cast<std::ptrdiff_t>(end - begin));
  });
}

}  // namespace

Order recorded_order(const Work& work) {
  Order order(work.places);
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

Order draw_order(std::size_t steps, std::size_t places, Draws& draws) {
  Order order(places);
  const bool permuted = draws.below(2) == 0;
  if (!permuted) {
    for (std::uint32_t& step : order) step = static_cast<std::uint32_t>(draws.below(steps));
    return order;
  }
  for (std::size_t place = 0; place < places; ++place) {
    order[place] = static_cast<std::uint32_t>(place % steps);
  }
  // The last round may be a part of one: which part is drawn too.
  std::vector<std::uint32_t> round(steps);
  for (std::size_t from = 0; from < places; from += steps) {
    std::iota(round.begin(), round.end(), 0u);
    shuffle(round, draws);
    const std::size_t count = std::min(steps, places - from);
    std::copy_n(round.begin(), count, order.begin() + static_cast<std::ptrdiff_t>(from));
  }
  return order;
}

OrderWriter::OrderWriter(const Work& work, std::size_t in_flight)
    : work_(work), sequences_(in_flight) {
  Slot own = 0;
  for (const WorkStep& step : work.steps) own = std::max(own, step.own_slots);
  Slot next = work.bound_slots;
  for (Sequence& sequence : sequences_) {
    sequence.first_slot = next;
    next += own;
  }
  first_crossing_ = next;
  trace_.gpu = work.gpu;
  trace_.lanes = work.lanes;
  trace_.streams = work.streams;
  trace_.pools = work.pools;
  trace_.start = work.start;
  trace_.coverage.starts_empty = work.starts_empty;
}

const Trace& OrderWriter::write(const Order& order, Draws& draws) {
  clear();
  append_rows(work_.beginning.events, 0, work_.beginning.size(), trace_);
  if (sequences_.size() == 1) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      begin(sequences_[0], work_.steps[order[i]], i + 1);
      play_through(sequences_[0]);
    }
  } else {
    play_interleaved(order, draws);
  }
  play_end();
  trace_.slot_count = next_crossing_;
  return trace_;
}

void OrderWriter::clear() {
  for_each_column([&](auto column) { (trace_.*column).clear(); });
  for (Sequence& sequence : sequences_) {
    sequence.number = 0;
    sequence.due.clear();
  }
  next_crossing_ = first_crossing_;
  free_slots_.clear();
}

void OrderWriter::begin(Sequence& sequence, const WorkStep& step, std::size_t place) {
  sequence.step = &step;
  sequence.next = sequence.next_birth = sequence.next_between = 0;
  sequence.between.clear();
  ++sequence.number;
  if (place < work_.bound.size()) {
    for (const BoundEvent& bound : work_.bound[place]) {
      sequence.between.push_back({bound.place.in(step.size()), bound.row, bound.slot});
    }
  }
  std::erase_if(sequence.due, [&](const Due& due) {
    if (due.step != sequence.number) return false;
    sequence.between.push_back(due.between);
    sequence.between.back().at = due.place.in(step.size());
    return true;
  });
  // As they were recorded where they come together.
  std::ranges::stable_sort(sequence.between, [](const Between& a, const Between& b) {
    return std::pair(a.at, a.row) < std::pair(b.at, b.row);
  });
}

bool OrderWriter::is_done(const Sequence& sequence) const {
  return sequence.next == sequence.step->size() && sequence.next_between == sequence.between.size();
}

void OrderWriter::play_through(Sequence& sequence) {
  while (!is_done(sequence)) play(sequence, SIZE_MAX);
}

void OrderWriter::play(Sequence& sequence, std::size_t most) {
  std::size_t end = sequence.step->size();
  if (sequence.next_between < sequence.between.size()) {
    const Between& between = sequence.between[sequence.next_between];
    if (between.at <= sequence.next) return play_between(sequence);
    end = between.at;
  }
  // A block that is born may bring what comes between.
  const std::vector<WorkStep::Birth>& births = sequence.step->births;
  if (sequence.next_birth < births.size()) {
    end = std::min<std::size_t>(end, births[sequence.next_birth].at + std::size_t{1});
  }
  play_events(sequence, std::min(most, end - sequence.next));
}

void OrderWriter::play_between(Sequence& sequence) {
  const Between& between = sequence.between[sequence.next_between++];
  append_rows(work_.rows, between.row, between.row + 1, trace_);
  trace_.slots.back() = between.slot;
  if (between.last) free_slots_.push_back(between.slot);
}

void OrderWriter::play_events(Sequence& sequence, std::size_t count) {
  const std::size_t row = trace_.ops.size();
  append_rows(sequence.step->events, sequence.next, sequence.next + count, trace_);
  for (std::size_t i = row; i < trace_.slots.size(); ++i) {
    if (trace_.slots[i] != kNoSlot) trace_.slots[i] += sequence.first_slot;
  }
  sequence.next += count;
  const std::vector<WorkStep::Birth>& births = sequence.step->births;
  if (sequence.next_birth < births.size() && births[sequence.next_birth].at < sequence.next) {
    give_birth(sequence, trace_.ops.size() - 1);
  }
}

void OrderWriter::give_birth(Sequence& sequence, std::size_t row) {
  Slot slot = next_crossing_;
  if (free_slots_.empty()) {
    ++next_crossing_;
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  trace_.slots[row] = slot;
  for (const WorkStep::Parting& parting : sequence.step->births[sequence.next_birth++].partings) {
    const Between between{parting.place.at, parting.row, slot, parting.last};
    if (parting.later > 0) {
      sequence.due.push_back({sequence.number + parting.later, parting.place, between});
      continue;
    }
    const auto behind = std::upper_bound(
        sequence.between.begin() + static_cast<std::ptrdiff_t>(sequence.next_between),
        sequence.between.end(), between, [](const Between& a, const Between& b) {
          return std::pair(a.at, a.row) < std::pair(b.at, b.row);
        });
    sequence.between.insert(behind, between);
  }
}

void OrderWriter::play_interleaved(const Order& order, Draws& draws) {
  std::size_t place = 0;
  in_flight_.clear();
  const auto begin_next = [&](std::size_t number) {
    if (place == order.size()) return false;
    begin(sequences_[number], work_.steps[order[place]], place + 1);
    ++place;
    return true;
  };
  for (std::size_t number = 0; number < sequences_.size(); ++number) {
    if (begin_next(number)) in_flight_.push_back(number);
  }
  while (!in_flight_.empty()) {
    const std::size_t chosen = draws.below(in_flight_.size());
    Sequence& sequence = sequences_[in_flight_[chosen]];
    if (!is_done(sequence)) play(sequence, 1);
    while (is_done(sequence)) {
      if (begin_next(in_flight_[chosen])) continue;
      in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(chosen));
      break;
    }
  }
}

// What is due in the next step of a sequence is freed at the end, where it was recorded there.
void OrderWriter::play_end() {
  Sequence& end = sequences_.front();
  for (std::size_t i = 1; i < sequences_.size(); ++i) {
    for (Due due : sequences_[i].due) {
      if (due.step != sequences_[i].number + 1) continue;
      due.step = end.number + 1;
      end.due.push_back(due);
    }
  }
  const Slot first_slot = std::exchange(end.first_slot, 0);
  begin(end, work_.end, work_.bound.size());
  play_through(end);
  end.first_slot = first_slot;
}

// The value with k others above it bounds the share where more than k draws fell beyond the share's
// quantile, and their number is binomial.
ToleranceBound tolerance_bound(std::size_t values, double share, double confidence) {
  const auto count = static_cast<double>(values);
  double log_chance = count * std::log(share);  // exactly k beyond
  double at_most = 0;                           // k beyond
  ToleranceBound bound;
  for (std::size_t k = 0; k < values; ++k) {
    at_most += std::exp(log_chance);
    if (k > 0 && 1 - at_most < confidence) break;
    bound = {k, 1 - at_most};
    const auto so_far = static_cast<double>(k);
    log_chance += std::log((count - so_far) / (so_far + 1)) + std::log((1 - share) / share);
  }
  return bound;
}

}  // namespace memreplay
