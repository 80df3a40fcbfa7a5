#include "extensions/planner/plan/answer.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "extensions/planner/irreducible.hpp"
#include "extensions/planner/memories.hpp"
#include "extensions/planner/planning.hpp"
#include "extensions/planner/problem.hpp"
#include "program/summary.hpp"
#include "replay/program.hpp"
#include "run/inputs.hpp"
#include "run/run.hpp"
#include "trace/stated_buffer.hpp"
#include "verify/subject.hpp"

namespace memreplay {
namespace {

/// What is to be planned of a trace, and how its blocks are called.
struct TraceLives {
  PlanningProblem problem;
  std::vector<PlannedBuffer> buffers;
  std::uint64_t left_out = 0;  ///< requests too large for any device
};

/// Requests from this size on are left out.
constexpr Bytes kNoDevice = Bytes{1} << 50;

/// Times of a file may be negative; their order stays.
std::uint64_t unsigned_time(std::int64_t time) {
  return static_cast<std::uint64_t>(time) + (std::uint64_t{1} << 63);
}

/// `as_planned`: each lies where its own planner put it.
TraceLives stated_lives(const std::vector<StatedBuffer>& stated, Bytes alignment, bool as_planned) {
  TraceLives lives;
  for (const StatedBuffer& buffer : stated) {
    const auto row = static_cast<std::uint32_t>(lives.buffers.size());
    if (buffer.size >= kNoDevice || buffer.alignment >= kNoDevice) {
      ++lives.left_out;
      continue;
    }
    lives.buffers.push_back({buffer.name, buffer.lower, buffer.upper, buffer.size, {}});
    lives.problem.blocks.push_back({unsigned_time(buffer.lower), unsigned_time(buffer.upper),
                                    round_up(buffer.size, alignment),
                                    std::max(alignment, buffer.alignment)});
    for (const StatedBuffer::Gap& gap : buffer.gaps) {
      lives.buffers.back().gaps.push_back({gap.from, gap.to, gap.low, gap.high});
      lives.problem.gaps.push_back(
          {row, unsigned_time(gap.from), unsigned_time(gap.to), gap.low, gap.high});
    }
    lives.problem.places.push_back(as_planned && buffer.planned ? buffer.planned : buffer.offset);
  }
  const auto given = [](const auto& place) { return place.has_value(); };
  if (std::ranges::none_of(lives.problem.places, given)) lives.problem.places.clear();
  return lives;
}

/// Blocks are called as the recording numbers them, or by the event that asks for them.
std::string name_of_request(const Trace& trace, const PlannedRequest& request, std::size_t number) {
  if (request.start == 0) return "start-" + std::to_string(number);
  const std::uint64_t event = request.start - 1;
  return std::to_string(trace.ids.empty() ? event : trace.ids[event]);
}

TraceLives program_lives(const Trace& trace, const Program& program, Bytes alignment) {
  TraceLives lives;
  const PlannedProgram planned = foresee(program);
  const std::uint64_t last = program.size() + 1;
  for (std::size_t i = 0; i < planned.requests.size(); ++i) {
    const PlannedRequest& request = planned.requests[i];
    const std::uint64_t end = std::min(request.end, last);
    if (end <= request.start) continue;  // freed before the first event
    if (request.size >= kNoDevice || request.alignment >= kNoDevice) {
      ++lives.left_out;
      continue;
    }
    const Bytes size = round_up(request.size, alignment);
    lives.buffers.push_back({name_of_request(trace, request, i),
                             static_cast<std::int64_t>(request.start),
                             static_cast<std::int64_t>(end),
                             size,
                             {}});
    lives.problem.blocks.push_back(
        {request.start, end, size, std::max(alignment, request.alignment)});
  }
  lives.problem.blocks = at_own_times(std::move(lives.problem.blocks));
  return lives;
}

/// The buffers that its file states, or the blocks of its program; all sizes and offsets as
/// multiples of `alignment`. Throws UsageError, and what reading a file throws.
TraceLives lives_of(const Subject& subject, const PlanQuestion& question,
                    const ProgramOptions& options, Bytes alignment) {
  if (states_lifetimes(subject.recording().format)) {
    const ReadOptions read{.format = question.format,
                           .buffer_assignment = question.buffer_assignment};
    return stated_lives(stated_buffers(subject.recording().path, read), alignment, question.verify);
  }
  return program_lives(subject.trace(), program_of(subject, options), alignment);
}

/// As allocators of accelerators round.
constexpr Bytes kUsualAlignment = 512;
constexpr double kPartOfStep = 10;

Run usual_run(const Chosen& chosen, const Subject& subject, const PlanQuestion& question,
              const Control& control) {
  Setup setup = question.setup;
  setup.endless = true;
  const OpenDevice device = simulated(sized_for(subject, setup));
  const LateStart late(subject, replay_options(subject.trace(), setup, control));
  const StrategySpec usual = under_release(usual_strategy(*chosen.recording), setup.release);
  return run(subject, usual, device, setup, late, nullptr, control);
}

void find_culprits(const PlanningProblem& problem, const PlanQuestion& question,
                   const Control& control, PlannedDevice& device) {
  const Bytes capacity = question.planner.capacity.value_or(kEndlessCapacity);
  const IrreducibleSet set = irreducible_set(problem, capacity, question.planner.seconds, control);
  device.cannot.assign(set.rows.begin(), set.rows.end());
  device.each_needed = set.proved;
}

void enter_outcome(const PlannerOutcome& planned, PlannedDevice& device) {
  device.lower_bound = planned.lower_bound;
  device.found_by = planned.found_by;
  device.impossible = planned.impossible;
  device.nodes = planned.nodes;
  device.seconds = planned.seconds;
}

void enter(const PlannedMemory& planned, PlannedDevice& device) {
  enter_outcome(planned, device);
  if (!planned.packing) return;
  device.height = planned.packing->height;
  for (std::size_t row = 0; row < device.buffers.size(); ++row) {
    device.buffers[row].offset = planned.packing->offsets[row];
  }
}

void enter(const SpreadPlan& planned, PlannedDevice& device) {
  enter_outcome(planned, device);
  if (planned.too_large) device.cannot = {*planned.too_large};
  device.each_needed = planned.too_large.has_value();
  if (!planned.packing) return;
  device.height = 0;
  for (std::size_t i = 0; i < device.memories.size(); ++i) {
    device.memories[i].height = planned.packing->heights[i];
    *device.height += planned.packing->heights[i];
  }
  for (std::size_t row = 0; row < device.buffers.size(); ++row) {
    PlannedBuffer& buffer = device.buffers[row];
    buffer.memory = planned.packing->memories[row];
    buffer.offset = planned.packing->offsets[row];
    ++device.memories[buffer.memory].buffers;
  }
}

/// Looks at the plan that the file carries.
void verify_plan(PlanningProblem problem, PlannedDevice& device) {
  const auto given = [](const auto& place) { return place.has_value(); };
  if (problem.places.empty() || !std::ranges::all_of(problem.places, given)) {
    throw UsageError(device.trace.path +
                     " does not say where its buffers lie; --verify expects a plan");
  }
  std::vector<Bytes> offsets;
  for (std::size_t row = 0; row < problem.blocks.size(); ++row) {
    offsets.push_back(device.buffers[row].offset = *problem.places[row]);
  }
  const Packing packing = packing_of(problem.blocks, std::move(offsets));
  problem.places.clear();
  device.verified = true;
  device.found_by = "its own plan";
  device.lower_bound = lower_bound_of(problem);
  if (const auto conflict = first_conflict(problem, packing)) {
    device.impossible = device.each_needed = true;
    device.cannot = {conflict->first};
    if (conflict->second != conflict->first) device.cannot.push_back(conflict->second);
  } else {
    device.height = packing.height;
  }
}

void plan_all(const PlanningProblem& problem, const PlanQuestion& question, const Control& control,
              PlannedDevice& device) {
  if (question.memories.empty()) {
    enter(plan_memory(problem, question.planner, control), device);
    if (device.impossible) find_culprits(problem, question, control, device);
    return;
  }
  if (!problem.places.empty()) {
    throw UsageError(device.trace.path +
                     " gives offsets, but not in which memory; expected buffers without offsets, "
                     "or no --memory");
  }
  std::vector<Bytes> capacities;
  for (const MemoryToFill& memory : question.memories) {
    device.memories.push_back({.name = memory.name, .capacity = memory.capacity});
    capacities.push_back(memory.capacity);
  }
  enter(plan_memories(problem, capacities, question.planner, control), device);
}

/// One step takes a part of the time that the whole had.
void plan_step(const PlanningProblem& whole, const PlanQuestion& question, const Control& control,
               PlannedDevice& device) {
  const std::optional<RepeatedStep> step = repeated_step_of(whole.blocks);
  if (!step) return;
  device.step = {
      .requests = step->length,
      .steps = step->steps(),
      .share = static_cast<double>(step->rows) / static_cast<double>(whole.blocks.size())};
  const PlanningProblem problem = problem_of(*step, whole.blocks);
  if (problem.blocks.empty()) return;
  PlannerOptions options = question.planner;
  options.capacity.reset();
  options.seconds /= kPartOfStep;
  const PlannedMemory planned = plan_memory(problem, options, control);
  device.step->lower_bound = planned.lower_bound;
  if (planned.packing) device.step->height = planned.packing->height;
}

PlannedDevice planned_device(const Chosen& chosen, const PlanQuestion& question,
                             const Control& control) {
  PlannedDevice device;
  const bool stated = states_lifetimes(chosen.recording->format);
  device.trace = summarise(chosen);
  device.in_events = !stated;
  device.capacity = question.planner.capacity;
  device.alignment = question.alignment.value_or(stated ? 1 : kUsualAlignment);
  device.nothing_requested = !requests_anything(*chosen.trace);
  if (device.nothing_requested) return device;
  const Subject subject = chosen.subject(control);
  TraceLives lives =
      lives_of(subject, question, replay_options(subject.trace(), question.setup, control).program,
               device.alignment);
  device.buffers = std::move(lives.buffers);
  device.left_out = lives.left_out;
  if (question.verify) {
    if (!stated) {
      throw UsageError(device.trace.path +
                       " is a recording; --verify expects a file with a plan (offsets)");
    }
    verify_plan(std::move(lives.problem), device);
    return device;
  }
  plan_all(lives.problem, question, control, device);
  if (!stated) plan_step(lives.problem, question, control, device);
  if (!stated && !control.stopped()) device.run = usual_run(chosen, subject, question, control);
  if (device.run) device.run->at_least = device.trace.early_end.has_value();
  return device;
}

}  // namespace

bool PlanAnswer::all_fit() const {
  return std::ranges::all_of(devices, [](const PlannedDevice& device) { return device.fits(); });
}

PlanAnswer answer(const Inputs& inputs, const PlanQuestion& question, const Control& control) {
  PlanAnswer answer;
  for (const Chosen& chosen : inputs.chosen()) {
    if (control.stopped()) break;
    answer.devices.push_back(planned_device(chosen, question, control));
  }
  answer.interrupted = control.stopped();
  return answer;
}

}  // namespace memreplay
