#include "strategy/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay {

#define MEMREPLAY_STRATEGY(identifier, file) StrategyInfo identifier##_strategy();
#include "registered/strategies.def"
#undef MEMREPLAY_STRATEGY

namespace {

/// Without what people write differently: "cudaMallocAsync", "cuda_malloc_async".
std::string bare(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c == '-' || c == '_' || c == ' ') continue;
    letters += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return letters;
}

std::string hint(std::string_view name, const std::vector<std::string>& known,
                 std::string_view list) {
  // Who stops in the middle of a long name means that name.
  std::string guess = did_you_mean(name, known);
  const auto longer = std::find_if(known.begin(), known.end(),
                                   [&](const auto& other) { return other.starts_with(name); });
  if (guess.empty() && name.size() > 2 && longer != known.end()) {
    guess = fmt::format("; did you mean '{}'?", *longer);
  }
  return fmt::format("{} (memreplay list strategies{})", guess, list);
}

/// Splits at the commas outside brackets. Throws UsageError where brackets do not match.
std::vector<std::string_view> split(std::string_view whole, std::string_view text) {
  std::vector<std::string_view> parts;
  std::string closers;
  std::size_t from = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '(' || c == '[') {
      closers.push_back(c == '(' ? ')' : ']');
    } else if (c == ')' || c == ']') {
      if (closers.empty() || closers.back() != c) {
        throw UsageError(fmt::format("strategy '{}': '{}' closes no open bracket", whole, c));
      }
      closers.pop_back();
    } else if (c == ',' && closers.empty()) {
      parts.push_back(text.substr(from, at - from));
      from = at + 1;
    }
  }
  if (!closers.empty()) {
    throw UsageError(fmt::format("strategy '{}': expected '{}' at the end", whole, closers.back()));
  }
  parts.push_back(text.substr(from));
  return parts;
}

/// The part of `text` in its leading parentheses.
std::string_view in_parentheses(std::string_view whole, std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return text.substr(1, at - 1);
  }
  throw UsageError(fmt::format("strategy '{}': expected ')'", whole));
}

/// Deeper nesting means nothing, and every layer has pools of its own.
constexpr std::ptrdiff_t kMostLayers = 8;

void check_depth(std::string_view text) {
  std::ptrdiff_t depth = 0;
  for (const char c : text) {
    if (c == ')') --depth;
    if (c == '(' && ++depth >= kMostLayers) {
      throw UsageError(fmt::format("strategy '{}…': more than {} nested strategies; expected fewer",
                                   text.substr(0, text.find('(')), kMostLayers));
    }
  }
}

StrategySpec parse_checked(std::string_view text);

std::vector<StrategySpec> parse_inner(std::string_view whole, std::string_view text) {
  std::vector<std::string> specs;
  for (const std::string_view part : split(whole, text)) {
    // "torch:a=1,b=2": what begins with a key is another option of the strategy before it.
    const bool continues = part.substr(0, part.find_first_of(":(")).find('=') != part.npos;
    if (continues && !specs.empty()) {
      specs.back().append(",").append(part);
    } else {
      specs.emplace_back(part);
    }
  }
  std::vector<StrategySpec> inner;
  for (const std::string& spec : specs) inner.push_back(parse_checked(spec));
  return inner;
}

void parse_options(StrategySpec& spec, const StrategyInfo& info, std::string_view text) {
  std::vector<std::string> keys;
  for (const OptionInfo& option : info.options) keys.emplace_back(option.key);
  for (const std::string_view part : split(spec.text, text)) {
    const std::size_t equals = part.find('=');
    const std::string key(part.substr(0, equals));
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      throw UsageError(fmt::format("strategy '{}' has no option '{}'{}", spec.name, key,
                                   hint(key, keys, " " + spec.name)));
    }
    if (equals == part.npos) {
      throw UsageError(fmt::format("strategy '{}': option '{}' has no value; expected {}=VALUE",
                                   spec.name, key, key));
    }
    spec.options.emplace_back(key, part.substr(equals + 1));
  }
}

// "torch@2.9" is "torch:version=2.9".
void parse_at(StrategySpec& spec, const StrategyInfo& info, std::string_view value) {
  if (info.at.empty()) {
    throw UsageError(fmt::format("strategy '{}' takes no '@'", spec.name));
  }
  if (value.empty()) {
    throw UsageError(fmt::format("strategy '{}': expected a {} after '@'", spec.text, info.at));
  }
  if (find_option(spec, info.at)) {
    throw UsageError(fmt::format("strategy '{}': '@{}' and {}= say the same; expected one of them",
                                 spec.text, value, info.at));
  }
  spec.options.emplace(spec.options.begin(), info.at, value);
}

StrategySpec parse_checked(std::string_view text) {
  StrategySpec spec;
  spec.text = text;
  const std::size_t name_size = std::min(text.find_first_of("(:"), text.size());
  const std::string_view name = text.substr(0, name_size);
  const std::size_t at = name.find('@');
  spec.name = name.substr(0, at);
  if (spec.name.empty()) {
    throw UsageError(fmt::format("strategy '{}' has no name (memreplay list strategies)", text));
  }
  const StrategyInfo& info = strategy_info(spec.name);
  std::string_view rest = text.substr(name_size);
  if (rest.starts_with('(')) {
    if (!info.wraps) {
      throw UsageError(
          fmt::format("strategy '{}' takes no other strategy in parentheses", spec.name));
    }
    const std::string_view inner = in_parentheses(text, rest);
    spec.inner = parse_inner(text, inner);
    rest.remove_prefix(inner.size() + 2);
  }
  if (!rest.empty() && rest.front() != ':') {
    throw UsageError(fmt::format("strategy '{}': expected ':' before '{}'", text, rest));
  }
  if (rest.size() > 1) parse_options(spec, info, rest.substr(1));
  if (at != name.npos) parse_at(spec, info, name.substr(at + 1));
  return spec;
}

[[noreturn]] void bad_value(const StrategySpec& spec, std::string_view key, std::string_view value,
                            std::string_view expected) {
  throw UsageError(
      fmt::format("strategy '{}': {} is '{}'; expected {}", spec.name, key, value, expected));
}

}  // namespace

std::span<const StrategyInfo> strategies() {
  static const std::vector<StrategyInfo> all = {
#define MEMREPLAY_STRATEGY(identifier, file) identifier##_strategy(),
#include "registered/strategies.def"
#undef MEMREPLAY_STRATEGY
  };
  return all;
}

const StrategyInfo& strategy_info(std::string_view name) {
  const std::span<const StrategyInfo> all = strategies();
  const auto found = std::ranges::find(all, name, &StrategyInfo::name);
  if (found != all.end()) return *found;
#define MEMREPLAY_LEFT_OUT(identifier, extension) \
  if (bare(name) == bare(#identifier))            \
    throw NotBuilt(fmt::format("strategy '{}'", name), extension);
#include "registered/strategies_left_out.def"
#undef MEMREPLAY_LEFT_OUT
  if (const auto meant = strategy_known_as(name)) {
    throw UsageError(
        fmt::format("unknown strategy '{0}'; did you mean '{1}'? (memreplay list strategies {2})",
                    name, *meant, meant->substr(0, meant->find(':'))));
  }
  std::vector<std::string> names;
  for (const StrategyInfo& info : all) names.emplace_back(info.name);
  throw UsageError(fmt::format("unknown strategy '{}'{}", name, hint(name, names, "")));
}

std::optional<std::string> strategy_known_as(std::string_view name) {
  const std::string letters = bare(name);
  for (const StrategyInfo& info : strategies()) {
    for (const OtherName& other : info.known_as) {
      if (other.name != letters) continue;
      return fmt::format("{}{}{}", info.name, other.options.empty() ? "" : ":", other.options);
    }
  }
  return std::nullopt;
}

StrategySpec parse_strategy(std::string_view text) {
  check_depth(text);
  return parse_checked(text);
}

StrategySpec under_release(StrategySpec spec, const std::string& release) {
  if (release.empty()) return spec;
  spec.release = release;
  for (StrategySpec& inner : spec.inner) inner = under_release(std::move(inner), release);
  return spec;
}

bool joins_regions(const StrategySpec& spec) {
  const auto joins = strategy_info(spec.name).joins;
  return (joins && joins(spec)) || std::ranges::any_of(spec.inner, joins_regions);
}

std::optional<Bytes> stitched_chunk(const StrategySpec& spec) {
  if (strategy_info(spec.name).stitches) return size_option(spec, "chunk", 2 * kMiB);
  for (const StrategySpec& inner : spec.inner) {
    if (const auto chunk = stitched_chunk(inner)) return chunk;
  }
  return std::nullopt;
}

std::optional<PlanWish> plan_wish(const StrategySpec& spec) {
  if (const auto plan_for = strategy_info(spec.name).plan_for) return plan_for(spec);
  for (const StrategySpec& inner : spec.inner) {
    if (auto wish = plan_wish(inner)) return wish;
  }
  return std::nullopt;
}

std::unique_ptr<Strategy> make_strategy(const StrategySpec& spec, const StrategyContext& context) {
  const StrategyInfo& info = strategy_info(spec.name);
  if (context.wrapped && !info.needs_device.empty()) {
    throw UsageError(fmt::format(
        "strategy '{}' cannot be inside of another: the driver places its blocks", spec.name));
  }
  StrategyContext inside = context;
  inside.wrapped |= info.wraps;
  return info.make(spec, inside);
}

std::optional<std::string_view> find_option(const StrategySpec& spec, std::string_view key) {
  const auto last = std::find_if(spec.options.rbegin(), spec.options.rend(),
                                 [&](const auto& option) { return option.first == key; });
  if (last == spec.options.rend()) return std::nullopt;
  return last->second;
}

Bytes size_option(const StrategySpec& spec, std::string_view key, Bytes default_value) {
  const auto value = find_option(spec, key);
  if (!value) return default_value;
  const auto size = parse_size(*value);
  if (!size) bad_value(spec, key, *value, "a size such as 512MiB");
  return *size;
}

double number_option(const StrategySpec& spec, std::string_view key, double default_value) {
  const auto value = find_option(spec, key);
  if (!value) return default_value;
  double number = 0;
  const char* end = value->data() + value->size();
  const auto [stop, error] = std::from_chars(value->data(), end, number);
  if (error != std::errc{} || stop != end || !std::isfinite(number) || number < 0) {
    bad_value(spec, key, *value, "a number that is not negative");
  }
  return number;
}

Bytes alignment_option(const StrategySpec& spec, std::string_view key, Bytes default_value) {
  const Bytes size = size_option(spec, key, default_value);
  if (!std::has_single_bit(size)) {
    bad_value(spec, key, *find_option(spec, key), "a power of two");
  }
  return size;
}

std::uint64_t whole_option(const StrategySpec& spec, std::string_view key,
                           std::uint64_t default_value, std::uint64_t least, std::uint64_t most) {
  const auto value = find_option(spec, key);
  if (!value) return default_value;
  const auto number = parse_whole(*value);
  if (number && *number >= least && *number <= most) return *number;
  bad_value(spec, key, *value,
            most == UINT64_MAX ? fmt::format("a whole number from {} on", least)
                               : fmt::format("a whole number from {} to {}", least, most));
}

Bytes mebibytes_option(const StrategySpec& spec, std::string_view key, Bytes default_value) {
  const auto value = find_option(spec, key);
  if (!value) return default_value;
  const auto whole = parse_whole(*value);
  if (!whole || *whole > UINT64_MAX / kMiB) {
    bad_value(spec, key, *value, "a whole number of MiB");
  }
  return *whole * kMiB;
}

bool bool_option(const StrategySpec& spec, std::string_view key, bool default_value) {
  const auto value = find_option(spec, key);
  if (!value) return default_value;
  if (*value == "true" || *value == "True") return true;
  if (*value == "false" || *value == "False") return false;
  bad_value(spec, key, *value, "true or false");
}

std::size_t choice_option(const StrategySpec& spec, std::string_view key,
                          std::span<const std::string_view> choices, std::size_t default_index) {
  const auto value = find_option(spec, key);
  if (!value) return default_index;
  const auto choice = std::find(choices.begin(), choices.end(), *value);
  if (choice == choices.end()) {
    bad_value(spec, key, *value, fmt::format("{}", fmt::join(choices, " or ")));
  }
  return static_cast<std::size_t>(choice - choices.begin());
}

}  // namespace memreplay
