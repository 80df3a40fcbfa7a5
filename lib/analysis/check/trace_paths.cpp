#include "analysis/check/trace_paths.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "analysis/recorded/inputs.hpp"

namespace memreplay {
namespace {

constexpr const char* kStandardInput = "-";

std::filesystem::path whole_path(const std::filesystem::path& given) {
  return (std::filesystem::current_path() / given).lexically_normal();
}

std::filesystem::path folder_of(const std::string& baseline) {
  return whole_path(baseline).parent_path();
}

}  // namespace

std::string kept_path(const std::string& trace, const std::string& baseline) {
  if (trace == kStandardInput) return trace;
  return whole_path(trace).lexically_relative(folder_of(baseline)).generic_string();
}

bool is_kept_path(const std::string& kept, const std::string& trace, const std::string& baseline) {
  if (trace == kStandardInput || kept == kStandardInput) return kept == trace;
  const std::filesystem::path relative = (folder_of(baseline) / kept).lexically_normal();
  if (relative == whole_path(trace)) return true;
  std::error_code ignored;
  return whole_path(kept) == whole_path(trace) && !std::filesystem::exists(relative, ignored);
}

void renew_paths(Baseline& baseline, const std::string& path, const Inputs& inputs) {
  Baseline renewed;
  for (BaselineEntry& entry : baseline.entries) {
    for (const Chosen& chosen : inputs.chosen()) {
      const std::string& trace = chosen.recording->path;
      if (is_kept_path(entry.trace, trace, path)) entry.trace = kept_path(trace, path);
    }
    const bool there = renewed.find(entry.trace, entry.gpu, entry.setup.strategy) != nullptr;
    if (!there) renewed.add(std::move(entry));
  }
  baseline = std::move(renewed);
}

}  // namespace memreplay
