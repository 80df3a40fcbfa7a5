#include "extensions/what_if/vary/varied_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/error.hpp"
#include "core/text.hpp"
#include "program/devices.hpp"
#include "program/early_end.hpp"

namespace memreplay {
namespace {

/// The OOM at which a recording ends before one whole step is known.
std::optional<std::uint64_t> first_early_end(const Recording& recording,
                                             const std::vector<const Trace*>& traces) {
  for (const Trace* trace : traces) {
    if (const auto end = early_end(recording, *trace)) return end->event;
  }
  return std::nullopt;
}

}  // namespace

VariedProgram::VariedProgram(const std::deque<Recording>& recordings, const Variation& variation,
                             std::optional<int> gpu)
    : name_(variation.name) {
  std::vector<std::size_t> order(recordings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return variation.values[i]; });
  for (const std::size_t i : order) {
    const Recording& recording = recordings[i];
    const std::vector<const Trace*> traces = chosen_traces(recording, gpu);
    if (const auto oom = first_early_end(recording, traces)) {
      left_out_.push_back({recording.path, variation.values[i], *oom});
      continue;
    }
    if (values_.empty()) devices_.resize(traces.size());
    bool same = traces.size() == devices_.size();
    for (std::size_t device = 0; same && device < traces.size(); ++device) {
      std::deque<Subject>& subjects = devices_[device];
      same = subjects.empty() || subjects.front().trace().gpu == traces[device]->gpu;
      subjects.emplace_back(recording, *traces[device]);
    }
    if (!same) {
      throw UsageError(fmt::format("{} and {} are not of the same devices; expected one program",
                                   recordings[order.front()].path, recording.path));
    }
    values_.push_back(variation.values[i]);
  }
  if (!left_out_.empty() && values_.size() < 2) {
    const LeftOutSource& first = left_out_.front();
    throw UsageError(fmt::format(
        "{}={} ({}) ended in an OOM at event {}, before one whole step is known, and {}; expected "
        "two whole recordings: record a smaller {}, or on a larger card (--virtual-gpu)",
        name_, first.value, first.path, human_count(first.oom),
        values_.empty() ? "no other is whole" : "one other is whole", name_));
  }
  for (const std::deque<Subject>& subjects : devices_) {
    auto& tried = starts_tried_.emplace_back();
    for (const Subject& subject : subjects) tried.push_back(starts_tried(subject));
  }
}

MadeRecordings VariedProgram::recorded(std::size_t device, std::size_t i) const {
  const Subject& subject = devices_[device][i];
  Rewritten unchanged{.trace = subject.trace(), .now = {}, .kept = {}};
  unchanged.now.resize(subject.trace().size() + 1);
  std::iota(unchanged.now.begin(), unchanged.now.end(), std::uint64_t{0});
  unchanged.kept.resize(subject.trace().size(), true);
  MadeRecordings made;
  made.likeliest = made_recording(subject, std::move(unchanged), {});
  PredictionFacts facts{.name = name_, .value = values_[i], .left_out = left_out_, .structure = i};
  for (std::size_t j = 0; j < values_.size(); ++j) {
    facts.sources.push_back({.path = devices_[device][j].recording().path, .value = values_[j]});
  }
  made.predicted = std::move(facts);
  return made;
}

std::vector<MadeRecordings> VariedProgram::at(std::int64_t value,
                                              std::optional<std::size_t> without) const {
  const auto same = std::ranges::find(values_, value);
  const auto place = static_cast<std::size_t>(same - values_.begin());
  const bool is_recorded = same != values_.end() && place != without;
  std::vector<MadeRecordings> made;
  for (std::size_t device = 0; device < devices_.size(); ++device) {
    if (is_recorded) {
      made.push_back(recorded(device, place));
      continue;
    }
    std::vector<Varied> varied;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (i == without) continue;
      varied.push_back({&devices_[device][i], values_[i], starts_tried_[device][i]});
    }
    made.push_back(predicted(varied, {name_, value}));
    made.back().predicted->left_out = left_out_;
  }
  return made;
}

std::vector<MadeRecordings> predicted_at(const std::deque<Recording>& recordings,
                                         const Variation& variation, std::optional<int> gpu) {
  return VariedProgram(recordings, variation, gpu).at(*variation.at);
}

}  // namespace memreplay
