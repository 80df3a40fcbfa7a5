#include "questions/check/baseline_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <tuple>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "questions/check/tolerance.hpp"
#include "strategy/registry.hpp"
#include "trace/json/json.hpp"
#include "trace/json/json_node.hpp"

namespace memreplay {
namespace {

auto place_of(const BaselineEntry& entry) {
  return std::tie(entry.trace, entry.gpu, entry.setup.strategy);
}

constexpr std::string_view kSchema = "memreplay-baseline/1";
// As --start says it.
constexpr std::string_view kCounted = "auto";
constexpr std::string_view kLeftOut = "cold";
/// Its values are those of a recording that ends early.
constexpr std::string_view kLowerBound = "lower";
constexpr std::string_view kPlacesBy[] = {"stack", "size"};

bool is_escape(std::string_view text) { return text.starts_with("\\x"); }

// Names may hold any byte, JSON may not: one that is no UTF-8 is \xe9, and the backslash of a name
// that has such a text itself is \x5c.
std::string name_in_json(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const std::size_t length = utf8_length(name);
    if (length == 0 || is_escape(name)) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(name[0]));
    } else {
      out += name.substr(0, length);
    }
    name.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string name_from_json(std::string_view text) {
  constexpr std::size_t kEscape = 4;
  std::string name;
  while (!text.empty()) {
    unsigned byte = 0;
    const std::string_view digits = text.substr(std::min<std::size_t>(2, text.size()), 2);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    const bool whole = is_escape(text) && digits.size() == 2 && read.ptr == digits.end();
    const bool ours = whole && (byte >= 0x80 || byte == '\\');
    name += ours ? static_cast<char>(byte) : text[0];
    text.remove_prefix(ours ? kEscape : 1);
  }
  return name;
}

// What is unknown on a command line is wrong usage; in a file it has a place.
template <typename Function>
auto at_place(const JsonNode& node, Function function) {
  try {
    return function();
  } catch (const UsageError& error) {
    throw InputError(node.file(), node.place(), error.what());
  }
}

Tolerance tolerance_of(const JsonNode& node, const CheckedMetric& metric) {
  const auto parsed = parse_tolerance(node.text_or_written());
  if (!parsed) node.refuse("a tolerance such as \"2%\", \"64MiB\" or \"0\"");
  if (parsed->sized && !metric.in_bytes) node.refuse("a share or a number of times");
  return *parsed;
}

CheckSetup setup_of(const JsonNode& entry) {
  CheckSetup setup;
  setup.strategy = entry.at("strategy").text();
  at_place(entry.at("strategy"), [&] { return parse_strategy(setup.strategy); });
  if (entry.has("torch_version")) setup.release = entry.at("torch_version").text();
  if (entry.has("capacity_bytes")) setup.capacity = entry.at("capacity_bytes").whole();
  return setup;
}

PlacesHeld places_of(const JsonNode& entry) {
  PlacesHeld held;
  if (entry.has("places_by")) {
    const std::string by = entry.at("places_by").text();
    const auto found = std::ranges::find(kPlacesBy, by);
    if (found == std::end(kPlacesBy)) entry.at("places_by").refuse("\"stack\" or \"size\"");
    held.by = static_cast<PlacesHeld::By>(found - std::begin(kPlacesBy));
  }
  for (const auto& [place, bytes] : entry.at("places_at_peak").members()) {
    held.places[name_from_json(place)] = bytes.whole();
  }
  if (entry.has("other_places_bytes")) held.others = entry.at("other_places_bytes").whole();
  return held;
}

FromBefore from_before_of(const JsonNode& node) {
  const std::string start = node.text();
  if (start != kCounted && start != kLeftOut) node.refuse("\"auto\" or \"cold\"");
  return start == kCounted ? FromBefore::counted : FromBefore::left_out;
}

BaselineEntry entry_of(const JsonNode& node) {
  node.expect_object({"trace", "gpu", "strategy", "torch_version", "capacity_bytes", "start",
                      "bound", "program", "rules", "metrics", "places_by", "places_at_peak",
                      "other_places_bytes"});
  BaselineEntry entry{.trace = name_from_json(node.at("trace").text()), .setup = setup_of(node)};
  if (node.has("gpu")) entry.gpu = node.at("gpu").gpu();
  if (node.has("start")) entry.from_before = from_before_of(node.at("start"));
  if (node.has("bound")) {
    if (node.at("bound").text() != kLowerBound) node.at("bound").refuse("\"lower\"");
    entry.at_least = true;
  }
  if (node.has("program")) entry.versions.program = node.at("program").text();
  if (node.has("rules")) entry.versions.rules = node.at("rules").text();
  const auto metrics = node.at("metrics").members();
  if (metrics.empty()) node.at("metrics").refuse("one metric or more");
  for (const auto& [name, metric] : metrics) {
    const CheckedMetric& known = *at_place(metric, [key = name] { return &checked_metric(key); });
    metric.expect_object({"value", "tolerance"});
    BaselineMetric& kept = entry.metrics[name];
    kept.value = metric.at("value").whole();
    if (metric.has("tolerance")) kept.tolerance = tolerance_of(metric.at("tolerance"), known);
  }
  if (node.has("places_at_peak")) entry.places = places_of(node);
  return entry;
}

Json entry_json(const BaselineEntry& entry) {
  Json json{
      {"trace", name_in_json(entry.trace)}, {"gpu", entry.gpu}, {"strategy", entry.setup.strategy}};
  if (!entry.setup.release.empty()) json["torch_version"] = entry.setup.release;
  if (entry.setup.capacity) json["capacity_bytes"] = *entry.setup.capacity;
  if (entry.from_before != FromBefore::unsaid) {
    json["start"] = entry.from_before == FromBefore::counted ? kCounted : kLeftOut;
  }
  if (entry.at_least) json["bound"] = kLowerBound;
  if (!entry.versions.program.empty()) json["program"] = entry.versions.program;
  if (!entry.versions.rules.empty()) json["rules"] = entry.versions.rules;
  json["metrics"] = Json::object();
  for (const auto& [name, metric] : entry.metrics) {
    json["metrics"][name] = {{"value", metric.value}, {"tolerance", metric.tolerance.text}};
  }
  if (!entry.places) return json;
  json["places_by"] = kPlacesBy[static_cast<std::size_t>(entry.places->by)];
  json["places_at_peak"] = Json::object();
  for (const auto& [place, bytes] : entry.places->places) {
    json["places_at_peak"][name_in_json(place)] = bytes;
  }
  json["other_places_bytes"] = entry.places->others;
  return json;
}

}  // namespace

std::optional<Baseline> read_baseline(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::status(path, ignored))) return std::nullopt;
  return parse_baseline(path, text_of_file(path));
}

Baseline parse_baseline(const std::string& path, const std::string& text) {
  const auto json = parse_json(path, text, "a baseline as --update writes it");
  const JsonNode root(path, "", *json);
  root.expect_object({"schema", "entries"});
  if (root.at("schema").text() != kSchema) {
    root.at("schema").refuse(fmt::format("\"{}\"", kSchema));
  }
  Baseline baseline;
  for (const JsonNode& node : root.at("entries").elements()) {
    at_place(node, [&] { return &baseline.add(entry_of(node)); });
  }
  return baseline;
}

std::string baseline_text(const Baseline& baseline) {
  Json json{{"schema", kSchema}, {"entries", Json::array()}};
  for (const BaselineEntry& entry : baseline.entries) json["entries"].push_back(entry_json(entry));
  return json.dump(2) + '\n';
}

BaselineEntry* Baseline::find(const std::string& trace, int gpu, const std::string& strategy) {
  const auto found = std::ranges::find_if(entries, [&](const BaselineEntry& entry) {
    return place_of(entry) == std::tie(trace, gpu, strategy);
  });
  return found == entries.end() ? nullptr : &*found;
}

BaselineEntry& Baseline::add(BaselineEntry entry) {
  if (find(entry.trace, entry.gpu, entry.setup.strategy) != nullptr) {
    throw UsageError(fmt::format("{} gpu {} under {} is there twice", entry.trace, entry.gpu,
                                 entry.setup.strategy));
  }
  const auto behind = std::ranges::find_if(
      entries, [&](const BaselineEntry& other) { return place_of(entry) < place_of(other); });
  return *entries.insert(behind, std::move(entry));
}

}  // namespace memreplay
