#include "trace/workload/workload_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay {
namespace {

constexpr Bytes kMostOfASize = Bytes{1} << 40;

std::vector<std::string> keys_of(const std::vector<OptionInfo>& options) {
  std::vector<std::string> keys;
  for (const OptionInfo& option : options) keys.emplace_back(option.key);
  return keys;
}

/// Takes what stands before the mark off the text.
std::string_view cut(std::string_view& text, char mark) {
  const std::string_view piece = text.substr(0, text.find(mark));
  text.remove_prefix(std::min(piece.size() + 1, text.size()));
  return piece;
}

}  // namespace

WorkloadValues::WorkloadValues(std::string_view workload, const std::vector<OptionInfo>& known,
                               std::string_view given)
    : workload_(workload), known_(known) {
  for (const OptionInfo& option : known) texts_.emplace_back(option.default_value);
  while (!given.empty()) {
    std::string_view value = cut(given, ',');
    const std::string_view key = cut(value, '=');
    const auto found = std::ranges::find(known, key, &OptionInfo::key);
    if (found == known.end()) {
      throw UsageError(fmt::format("workload {} has no option '{}'{} (memreplay list workloads {})",
                                   workload, key, did_you_mean(key, keys_of(known)), workload));
    }
    texts_[static_cast<std::size_t>(found - known.begin())] = value;
  }
}

const std::string& WorkloadValues::text(std::string_view key) const {
  const auto found = std::ranges::find(known_, key, &OptionInfo::key);
  return texts_.at(static_cast<std::size_t>(found - known_.begin()));
}

void WorkloadValues::bad(std::string_view key, std::string_view expected) const {
  throw UsageError(
      fmt::format("workload {}: {} is '{}'; expected {}", workload_, key, text(key), expected));
}

std::uint64_t WorkloadValues::whole(std::string_view key, std::uint64_t least,
                                    std::uint64_t most) const {
  const auto value = parse_whole(text(key));
  if (!value || *value < least || *value > most) {
    bad(key, fmt::format("a whole number of {} to {}", least, most));
  }
  return *value;
}

double WorkloadValues::number(std::string_view key, double least, double most) const {
  const std::string& given = text(key);
  double value = 0;
  const char* end = given.data() + given.size();
  const auto [stop, error] = std::from_chars(given.data(), end, value);
  const bool fits = value >= least && value <= most;  // false of what is no number
  if (error != std::errc{} || stop != end || !fits) {
    bad(key, fmt::format("a number of {} to {}", least, most));
  }
  return value;
}

Bytes WorkloadValues::size(std::string_view key) const {
  const auto value = parse_size(text(key));
  if (!value || *value == 0 || *value > kMostOfASize) bad(key, "a size of 1 byte to 1 TiB");
  return *value;
}

std::size_t WorkloadValues::choice(std::string_view key) const {
  const std::string_view choices = std::ranges::find(known_, key, &OptionInfo::key)->values;
  std::string_view rest = choices;
  for (std::size_t index = 0; !rest.empty(); ++index) {
    if (cut(rest, '|') == text(key)) return index;
  }
  bad(key, choices);
}

}  // namespace memreplay
