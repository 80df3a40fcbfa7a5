#include "analysis/plan/answer.hpp"

#include <algorithm>

#include "analysis/plan/lives.hpp"
#include "analysis/plan/question.hpp"
#include "analysis/recorded/inputs.hpp"
#include "analysis/recorded/summary.hpp"
#include "analysis/run/run.hpp"
#include "core/error.hpp"
#include "planner/irreducible.hpp"
#include "planner/memories.hpp"
#include "planner/repeated_step.hpp"

namespace memreplay {
namespace {

/// As allocators of accelerators round.
constexpr Bytes kUsualAlignment = 512;
constexpr double kPartOfStep = 10;

Run usual_run(const Chosen& chosen, const Subject& subject, const PlanQuestion& question,
              const Control& control) {
  Setup setup = question.setup;
  setup.device.endless = true;
  const OpenDevice device = simulated(sized_for(subject, setup.device));
  const LateStart late(subject, replay_options(subject.trace(), setup, control));
  return run(subject, usual_strategy(*chosen.recording), device, setup, late, nullptr, control);
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

void plan_all(const PlanningProblem& problem, const PlanQuestion& question, const Control& control,
              PlannedDevice& device) {
  if (question.memories.empty()) {
    enter(plan_memory(problem, question.planner, control), device);
    if (device.impossible) find_culprits(problem, question, control, device);
    return;
  }
  if (!problem.places.empty()) {
    throw UsageError(device.trace.path +
                     " gives offsets, which say of no memory that they are in it; expected "
                     "buffers without, or no --memory");
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
  const bool stated = states_lives(*chosen.recording);
  device.trace = summarise(chosen);
  device.in_events = !stated;
  device.capacity = question.planner.capacity;
  device.alignment = question.alignment.value_or(stated ? 1 : kUsualAlignment);
  device.nothing_requested = !requests_anything(*chosen.trace);
  if (device.nothing_requested) return device;
  const Subject subject = chosen.subject(control);
  TraceLives lives = lives_of(
      subject, replay_options(subject.trace(), question.setup, control).program, device.alignment);
  device.buffers = std::move(lives.buffers);
  device.left_out = lives.left_out;
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
