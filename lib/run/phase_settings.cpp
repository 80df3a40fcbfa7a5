#include "run/phase_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "core/error.hpp"
#include "core/text.hpp"
#include "program/steps.hpp"
#include "strategy/torch/passed_settings.hpp"

namespace memreplay {
namespace {

/// A phase begins or ends.
struct PhaseEdge {
  std::uint64_t event = 0;
  const PhaseSetting* begins = nullptr;  ///< null: one ends
};

std::string listed_options(const std::vector<torch::ConfEntry>& entries) {
  std::vector<std::string> texts;
  for (const torch::ConfEntry& entry : entries) texts.push_back(entry.key + ':' + entry.value);
  return fmt::format("{}", fmt::join(texts, ","));
}

[[noreturn]] void refuse_phase(const std::string& name, const std::vector<Phase>& phases) {
  std::vector<std::string> names;
  for (const Phase& phase : phases) {
    if (std::ranges::find(names, phase.name) == names.end()) names.push_back(phase.name);
  }
  if (names.empty()) {
    throw UsageError(
        "--set: this recording annotates no phases; expected scopes of "
        "torch.profiler.record_function");
  }
  throw UsageError(fmt::format("--set: no phase '{}' in this recording{} (it has {})", name,
                               did_you_mean(name, names), fmt::join(names, ", ")));
}

// Where one phase ends and another begins, the end comes first.
std::vector<PhaseEdge> edges_of(const std::vector<PhaseSetting>& asked,
                                const std::vector<Phase>& phases, std::uint64_t events) {
  std::vector<PhaseEdge> edges;
  for (const PhaseSetting& setting : asked) {
    const std::size_t before = edges.size();
    for (const Phase& phase : phases) {
      if (phase.name != setting.phase) continue;
      edges.push_back({phase.from, &setting});
      if (phase.to < events) edges.push_back({phase.to});
    }
    if (edges.size() == before) refuse_phase(setting.phase, phases);
  }
  std::ranges::stable_sort(edges, {}, [](const PhaseEdge& edge) {
    return std::pair(edge.event, edge.begins != nullptr);
  });
  return edges;
}

void remark_on(const PhaseSetting& setting, const torch::PassedSettings& settings,
               std::vector<std::string>& remarks) {
  const std::string back = listed_options(settings.set_back_by(setting.conf));
  if (!back.empty()) {
    remarks.push_back(fmt::format("passing {} in {} resets {} to the default there", setting.conf,
                                  setting.phase, back));
  }
  const std::string left = listed_options(settings.left_by(setting.conf));
  if (!left.empty()) {
    remarks.push_back(fmt::format(
        "{} remains after {}, because the settings passed at its end do not name that option", left,
        setting.phase));
  }
}

}  // namespace

PhaseSetting phase_setting(std::string_view text) {
  constexpr std::string_view kMark = "@phase:";
  const std::size_t mark = text.rfind(kMark);
  if (mark == text.npos || mark == 0 || mark + kMark.size() == text.size()) {
    throw UsageError(fmt::format(
        "--set is '{}'; expected CONF@phase:NAME, for example max_split_size_mb:64@phase:load",
        text));
  }
  return {std::string(text.substr(0, mark)), std::string(text.substr(mark + kMark.size()))};
}

PhasedSettings phased_settings(const Contender& contender, const Setup& setup) {
  PhasedSettings phased;
  if (setup.phase_settings.empty()) return phased;
  const StrategySpec& spec = contender.spec();
  if (!contender.model()) {
    throw UsageError(
        fmt::format("--set: strategy '{}' reads no settings of PyTorch; expected torch or recorded",
                    spec.text));
  }
  const Subject& subject = contender.subject();
  const Trace& trace = subject.trace();
  if (!trace.coverage.starts_empty) {
    throw UsageError("--set: the recording starts late; expected one from the program's start");
  }
  const std::vector<Phase> phases = annotated_phases(subject.recording(), trace);
  torch::PassedSettings settings(spec, subject.settings(), *contender.model());
  for (const PhaseEdge& edge : edges_of(setup.phase_settings, phases, trace.size())) {
    phased.calls.push_back(
        {edge.event,
         edge.begins != nullptr ? settings.pass(edge.begins->conf) : settings.pass_the_first(),
         {}});
  }
  for (const PhaseSetting& setting : setup.phase_settings) {
    remark_on(setting, settings, phased.remarks);
  }
  return phased;
}

}  // namespace memreplay
