#include "report/baseline_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "report/json_parts.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kSchema = "memreplay-baseline/1";
constexpr std::string_view kPlacesBy[] = {"stack", "size"};

/// Refuses objects in which a key stands twice: of those only one would count.
class RepeatedKeys {
 public:
  explicit RepeatedKeys(const std::string& path) : path_(path) {}

  bool operator()(int, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::object_start) open_.emplace_back();
    if (event == Json::parse_event_t::object_end) open_.pop_back();
    if (event == Json::parse_event_t::key && !open_.back().insert(parsed).second) {
      throw InputError(path_, "", fmt::format("key {} stands twice in one object", parsed.dump()));
    }
    return true;
  }

 private:
  const std::string& path_;
  std::vector<std::set<std::string>> open_;
};

/// A value of the file and where it stands.
class Node {
 public:
  Node(const std::string& file, std::string place, const Json& value)
      : file_(file), place_(std::move(place)), value_(value) {}

  [[noreturn]] void refuse(const std::string& expected) const {
    std::string is = value_.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (is.size() > 60) is = value_.type_name();
    throw InputError(file_, place_, fmt::format("is {}; expected {}", is, expected));
  }

  void expect_object(const std::vector<std::string>& keys) const {
    if (!value_.is_object()) refuse("an object");
    for (const auto& [key, value] : value_.items()) {
      if (std::ranges::find(keys, key) != keys.end()) continue;
      throw InputError(file_, place_,
                       fmt::format("unknown key '{}'{}", key, did_you_mean(key, keys)));
    }
  }

  bool has(const char* key) const { return value_.contains(key); }
  Node at(const std::string& key) const {
    if (!value_.contains(key)) {
      throw InputError(file_, place_, fmt::format("has no key '{}'", key));
    }
    return {file_, place_.empty() ? key : place_ + '.' + key, value_[key]};
  }
  std::vector<Node> elements() const {
    if (!value_.is_array()) refuse("a list");
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < value_.size(); ++i) {
      nodes.emplace_back(file_, fmt::format("{}[{}]", place_, i), value_[i]);
    }
    return nodes;
  }
  std::vector<std::pair<std::string, Node>> members() const {
    if (!value_.is_object()) refuse("an object");
    std::vector<std::pair<std::string, Node>> nodes;
    for (const auto& [key, value] : value_.items()) nodes.emplace_back(key, at(key));
    return nodes;
  }

  std::string text() const {
    if (!value_.is_string()) refuse("a text");
    return value_;
  }
  std::uint64_t whole() const {
    if (!value_.is_number_unsigned()) refuse("a whole number that is not negative");
    return value_;
  }
  int gpu() const {
    if (!value_.is_number_integer() || value_ < -1 || value_ > (1 << 20)) {
      refuse("the number of a device, or -1 for host memory");
    }
    return value_;
  }
  Tolerance tolerance(const CheckedMetric& metric) const {
    const auto parsed = parse_tolerance(value_.is_string() ? text() : value_.dump());
    if (!parsed) refuse("a tolerance such as \"2%\", \"64MiB\" or \"0\"");
    if (parsed->sized && !metric.in_bytes) refuse("a share or a number of times");
    return *parsed;
  }

  const std::string& file() const { return file_; }
  const std::string& place() const { return place_; }

 private:
  const std::string& file_;
  std::string place_;
  const Json& value_;
};

// What is unknown on a command line is wrong usage; in a file it has a place.
template <typename Function>
auto at_place(const Node& node, Function function) {
  try {
    return function();
  } catch (const UsageError& error) {
    throw InputError(node.file(), node.place(), error.what());
  }
}

CheckSetup setup_of(const Node& entry) {
  CheckSetup setup;
  setup.strategy = entry.at("strategy").text();
  at_place(entry.at("strategy"), [&] { return parse_strategy(setup.strategy); });
  if (entry.has("torch_version")) setup.torch_version = entry.at("torch_version").text();
  if (entry.has("capacity_bytes")) setup.capacity = entry.at("capacity_bytes").whole();
  return setup;
}

PlacesHeld places_of(const Node& entry) {
  PlacesHeld held;
  if (entry.has("places_by")) {
    const std::string by = entry.at("places_by").text();
    const auto found = std::ranges::find(kPlacesBy, by);
    if (found == std::end(kPlacesBy)) entry.at("places_by").refuse("\"stack\" or \"size\"");
    held.by = static_cast<PlacesHeld::By>(found - std::begin(kPlacesBy));
  }
  for (const auto& [place, bytes] : entry.at("places_at_peak").members()) {
    held.places[place] = bytes.whole();
  }
  if (entry.has("other_places_bytes")) held.others = entry.at("other_places_bytes").whole();
  return held;
}

BaselineEntry entry_of(const Node& node) {
  node.expect_object({"trace", "gpu", "strategy", "torch_version", "capacity_bytes", "metrics",
                      "places_by", "places_at_peak", "other_places_bytes"});
  BaselineEntry entry{.trace = node.at("trace").text(), .setup = setup_of(node)};
  if (node.has("gpu")) entry.gpu = node.at("gpu").gpu();
  const auto metrics = node.at("metrics").members();
  if (metrics.empty()) node.at("metrics").refuse("one metric or more");
  for (const auto& [name, metric] : metrics) {
    const CheckedMetric& known = *at_place(metric, [key = name] { return &checked_metric(key); });
    metric.expect_object({"value", "tolerance"});
    BaselineMetric& kept = entry.metrics[name];
    kept.value = metric.at("value").whole();
    if (metric.has("tolerance")) kept.tolerance = metric.at("tolerance").tolerance(known);
  }
  if (node.has("places_at_peak")) entry.places = places_of(node);
  return entry;
}

// "3:14" of the byte before which `read` bytes stand.
std::string line_and_column(const std::string& text, std::size_t read) {
  const std::string_view before = std::string_view(text).substr(0, read > 0 ? read - 1 : 0);
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("{}:{}", line, before.size() - begin + 1);
}

Json entry_json(const BaselineEntry& entry) {
  Json json{{"trace", entry.trace}, {"gpu", entry.gpu}, {"strategy", entry.setup.strategy}};
  if (!entry.setup.torch_version.empty()) json["torch_version"] = entry.setup.torch_version;
  if (entry.setup.capacity) json["capacity_bytes"] = *entry.setup.capacity;
  json["metrics"] = Json::object();
  for (const auto& [name, metric] : entry.metrics) {
    json["metrics"][name] = {{"value", metric.value}, {"tolerance", metric.tolerance.text}};
  }
  if (!entry.places) return json;
  json["places_by"] = kPlacesBy[static_cast<std::size_t>(entry.places->by)];
  json["places_at_peak"] = Json::object();
  for (const auto& [place, bytes] : entry.places->places) json["places_at_peak"][place] = bytes;
  json["other_places_bytes"] = entry.places->others;
  return json;
}

}  // namespace

std::optional<Baseline> read_baseline(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(status)) return std::nullopt;
  if (std::filesystem::is_directory(status)) throw InputError(path, "", "is a directory");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(path, "", "cannot be read");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return parse_baseline(path, text);
}

Baseline parse_baseline(const std::string& path, const std::string& text) {
  Json json;
  try {
    json = Json::parse(text, RepeatedKeys(path));
  } catch (const Json::parse_error& error) {
    throw InputError(path, line_and_column(text, error.byte),
                     "is no JSON here; expected a baseline as --update writes it");
  }
  const Node root(path, "", json);
  root.expect_object({"schema", "entries"});
  if (root.at("schema").text() != kSchema) {
    root.at("schema").refuse(fmt::format("\"{}\"", kSchema));
  }
  Baseline baseline;
  for (const Node& node : root.at("entries").elements()) {
    at_place(node, [&] { return &baseline.add(entry_of(node)); });
  }
  return baseline;
}

std::string baseline_text(const Baseline& baseline) {
  Json json{{"schema", kSchema}, {"entries", Json::array()}};
  for (const BaselineEntry& entry : baseline.entries) json["entries"].push_back(entry_json(entry));
  return dump(json);
}

}  // namespace memreplay
