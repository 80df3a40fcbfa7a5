#include "analysis/vary/varied_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "analysis/recorded/inputs.hpp"
#include "core/error.hpp"

namespace memreplay {

VariedProgram::VariedProgram(const std::deque<Recording>& recordings, const Variation& variation,
                             std::optional<int> gpu)
    : name_(variation.name) {
  std::vector<std::size_t> order(recordings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return variation.values[i]; });
  for (const std::size_t i : order) {
    const Recording& recording = recordings[i];
    const std::vector<const Trace*> traces = chosen_traces(recording, gpu);
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
  for (const std::deque<Subject>& subjects : devices_) {
    auto& tried = starts_tried_.emplace_back();
    for (const Subject& subject : subjects) tried.push_back(starts_tried(subject));
  }
}

std::vector<MadeRecordings> VariedProgram::at(std::int64_t value,
                                              std::optional<std::size_t> without) const {
  std::vector<MadeRecordings> made;
  for (std::size_t device = 0; device < devices_.size(); ++device) {
    std::vector<Varied> varied;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (i == without) continue;
      varied.push_back({&devices_[device][i], values_[i], starts_tried_[device][i]});
    }
    made.push_back(predicted(varied, {name_, value}));
  }
  return made;
}

}  // namespace memreplay
