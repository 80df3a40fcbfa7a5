#include "trace/process_choice.hpp"

#include <fmt/format.h>

#include "trace/csv_rows.hpp"

namespace memreplay {

ProcessChoice::ProcessChoice(const ReadOptions& options)
    : chosen_(options.process.empty() ? std::nullopt : std::optional(options.process)),
      is_merged_(options.process == "all") {}

bool ProcessChoice::takes(std::string_view process) {
  if (!chosen_) chosen_ = process;
  if (!processes_.contains(process)) processes_.emplace(process);
  return is_merged_ || process == *chosen_;
}

bool ProcessChoice::takes_another(std::uint64_t process) {
  const fmt::format_int text(process);
  takes_latest_ = takes(std::string_view(text.data(), text.size()));
  latest_ = process;
  return takes_latest_;
}

std::string ProcessChoice::tell(Recording& recording) const {
  if (processes_.empty()) return {};
  std::string names;
  for (const std::string& name : processes_) names += (names.empty() ? "" : ", ") + shown(name);
  if (!is_merged_ && !processes_.contains(*chosen_)) {
    return fmt::format("no events of process {}; expected one of {}, or all", shown(*chosen_),
                       names);
  }
  if (processes_.size() < 2) return {};
  recording.detail += is_merged_ ? fmt::format(", processes {} merged", names)
                                 : fmt::format(", process {} of {}", shown(*chosen_), names);
  return {};
}

}  // namespace memreplay
