#include "extensions/cuda_async/completion.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay {

Completion Completion::from(const StrategySpec& spec) {
  Completion completion;
  const std::string_view value = find_option(spec, "completion").value_or("immediate");
  constexpr std::string_view kLag = "lag:";
  if (value == "never") {
    completion.lag_ = kNever;
  } else if (value != "immediate") {
    const auto lag =
        value.starts_with(kLag) ? parse_whole(value.substr(kLag.size())) : std::nullopt;
    if (!lag) {
      throw UsageError(
          fmt::format("strategy '{}': completion is '{}'; expected immediate, never or lag:N",
                      spec.name, value));
    }
    completion.lag_ = *lag;
  }
  return completion;
}

}  // namespace memreplay
