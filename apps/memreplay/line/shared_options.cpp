#include "line/shared_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "line/run_outputs.hpp"

namespace memreplay {
namespace {

constexpr std::int64_t kMostOfParameter = 1'000'000'000;

struct NamedValue {
  std::string name;
  std::int64_t value = 0;
};

/// "batch=4"
NamedValue named_value(std::string_view option, std::string_view text, std::string_view expected) {
  const std::size_t equals = text.find('=');
  if (equals != std::string_view::npos && equals > 0) {
    const auto value = parse_whole(std::string(text.substr(equals + 1)));
    if (value && *value > 0 && *value <= kMostOfParameter) {
      return {std::string(text.substr(0, equals)), static_cast<std::int64_t>(*value)};
    }
  }
  throw UsageError(fmt::format("{} is '{}'; expected {}", option, text, expected));
}

/// What was given, before it is known to go together.
struct VariationArguments {
  std::vector<NamedValue> values;
  std::vector<std::string> paths;
  std::optional<NamedValue> at;
  std::string find;

  bool none() const { return values.empty() && !at && find.empty(); }
};

void add_run(const std::string& text, VariationArguments& given) {
  constexpr std::string_view kExpected = "NAME=VALUE:TRACE, such as batch=4:run.pickle";
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon + 1 == text.size()) {
    throw UsageError(fmt::format("--vary is '{}'; expected {}", text, kExpected));
  }
  given.values.push_back(named_value("--vary", std::string_view(text).substr(0, colon), kExpected));
  given.paths.push_back(text.substr(colon + 1));
}

Variation checked(const VariationArguments& given, AskedOfVariation asked) {
  if (given.values.size() < 2) {
    throw UsageError("--vary needs at least two recordings, at different values of one parameter");
  }
  Variation variation{.name = given.values.front().name, .values = {}, .at = {}};
  const auto expect_name = [&](std::string_view option, const std::string& name) {
    if (name == variation.name) return;
    throw UsageError(fmt::format("{} varies '{}'; expected '{}', as the first --vary does", option,
                                 name, variation.name));
  };
  for (const NamedValue& one : given.values) {
    expect_name("--vary", one.name);
    if (std::ranges::find(variation.values, one.value) != variation.values.end()) {
      throw UsageError(fmt::format("--vary {}={} is given twice", one.name, one.value));
    }
    variation.values.push_back(one.value);
  }
  if (asked == AskedOfVariation::find) {
    if (given.find.empty()) throw UsageError("--vary: which parameter to find? (--find NAME)");
    expect_name("--find", given.find);
  } else {
    if (!given.at) throw UsageError("--vary: predict which value? (--at NAME=VALUE)");
    expect_name("--at", given.at->name);
    variation.at = given.at->value;
  }
  return variation;
}

}  // namespace

DeviceChoice device_argument(const std::string& text) {
  using Kind = DeviceChoice::Kind;
  if (text == "sim") return {Kind::sim, 0, text};
  if (text == "host") return {Kind::host, 0, text};
  if (text == "cuda") return {Kind::cuda, 0, text};
  constexpr std::string_view kCard = "cuda:";
  if (text.starts_with(kCard)) {
    const auto number = parse_whole(std::string_view(text).substr(kCard.size()));
    if (number && *number < 1024) return {Kind::cuda, static_cast<int>(*number), text};
  }
  const std::vector<std::string> known = {"sim", "host", "cuda"};
  throw UsageError(fmt::format("--device is '{}'; expected sim, host, cuda or cuda:N{}", text,
                               did_you_mean(text, known)));
}

void add_place_options(CommandLine& line, PlaceBy& by, std::size_t& rows) {
  line.value("--by", "place|function|file|module",
             "What counts as one call site: a line, or a whole function, file, or folder or "
             "package. Default: place.",
             [&by](const std::string& text) {
               by = static_cast<PlaceBy>(
                   choice_argument("--by", text, {"place", "function", "file", "module"}));
             });
  line.value("--top", "N", "Show N rows of each table. Default: 10.",
             [&rows](const std::string& text) {
               rows = whole_argument("--top", text);
               if (rows == 0) throw UsageError("--top is 0; expected a whole number from 1 on");
             });
}

bool can_leave_in_file(const ReplayQuestion& question, const RunPaths& paths) {
  const Setup& setup = question.setup;
  const auto knows_the_future = [](const StrategySpec& spec) {
    return plan_wish(spec).has_value();
  };
  return setup.scale == 1 && !setup.paced && setup.devices.size() < 2 && !wants_files(paths) &&
         paths.perfetto.empty() && std::ranges::none_of(question.strategies, knows_the_future);
}

void add_variation_options(CommandLine& line, InputOptions& options, AskedOfVariation asked) {
  const auto given = std::make_shared<VariationArguments>();
  const CommandLine::Group group(line, "Input");
  line.repeated("--vary", "NAME=VALUE:TRACE",
                "A recording of the program at this value. Two or more, instead of TRACE.",
                [given, &line](const std::string& text) {
                  add_run(text, *given);
                  line.reads("--vary", given->paths.back());
                });
  if (asked == AskedOfVariation::at) {
    line.value("--at", "NAME=VALUE",
               "Predict the program at this value from --vary. Default: none.",
               [given](const std::string& text) {
                 given->at = named_value("--at", text, "NAME=VALUE, such as batch=16");
               });
  } else {
    line.value("--find", "NAME", "Find the largest value that fits, from --vary. Default: none.",
               [given](const std::string& text) { given->find = text; });
  }
  line.check([given, &options, asked] {
    if (given->none()) return;
    if (given->values.empty()) {
      throw UsageError(fmt::format("{} needs recordings: add --vary NAME=VALUE:TRACE, two or more",
                                   asked == AskedOfVariation::find ? "--find" : "--at"));
    }
    if (!options.paths.empty()) {
      throw UsageError(
          fmt::format("Use --vary once per recording; don't combine it with the trace argument {}",
                      options.paths.front()));
    }
    options.variation = checked(*given, asked);
    options.paths = given->paths;
  });
}

}  // namespace memreplay
