#include "analysis/tune/insertions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "analysis/recorded/steps.hpp"
#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay {
namespace {

std::vector<std::uint64_t> places_of(const std::string& insertion, const Subject& subject) {
  constexpr std::string_view kCall = "empty_cache@";
  if (!insertion.starts_with(kCall)) {
    throw UsageError(
        fmt::format("--insert is '{}'; expected empty_cache@EVENT, empty_cache@step or "
                    "empty_cache@SCOPE",
                    insertion));
  }
  const std::string where = insertion.substr(kCall.size());
  const Trace& trace = subject.trace();
  if (const auto event = parse_whole(where)) {
    if (*event < trace.size()) return {*event};
    throw UsageError(fmt::format("--insert: the recording has no event {}", *event));
  }
  if (where == "step") {
    const Steps steps = steps_of(subject.recording(), trace);
    if (steps.begins.empty()) throw UsageError("--insert: no steps are known in this recording");
    return steps.begins;
  }
  std::vector<std::uint64_t> begins;
  std::vector<std::string> scopes;
  for (const Phase& phase : annotated_phases(subject.recording(), trace)) {
    if (phase.name == where) begins.push_back(phase.from);
    if (std::ranges::find(scopes, phase.name) == scopes.end()) scopes.push_back(phase.name);
  }
  if (begins.empty()) {
    throw UsageError(
        fmt::format("--insert: no scope of this recording is called '{}'{}{}", where,
                    did_you_mean(where, scopes),
                    scopes.empty() ? "" : fmt::format(" ({})", fmt::join(scopes, ", "))));
  }
  return begins;
}

}  // namespace

std::vector<std::uint64_t> insertions(const std::vector<std::string>& named,
                                      const std::vector<const Subject*>& subjects) {
  std::vector<std::uint64_t> events;
  if (!named.empty() && subjects.size() > 1) {
    throw UsageError("--insert needs a single trace (and --gpu, where it has several devices)");
  }
  for (const std::string& insertion : named) {
    const auto more = places_of(insertion, *subjects.front());
    events.insert(events.end(), more.begin(), more.end());
  }
  std::ranges::sort(events);
  return events;
}

}  // namespace memreplay
