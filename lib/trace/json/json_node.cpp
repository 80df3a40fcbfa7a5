#include "trace/json/json_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "core/error.hpp"
#include "core/text.hpp"
#include "trace/input.hpp"

namespace memreplay {
namespace {

using ParsedJson = nlohmann::ordered_json;

/// Refuses objects in which a key stands twice: of those only one would count.
class RepeatedKeys {
 public:
  explicit RepeatedKeys(const std::string& path) : path_(path) {}

  bool operator()(int, ParsedJson::parse_event_t event, const ParsedJson& parsed) {
    if (event == ParsedJson::parse_event_t::object_start) open_.emplace_back();
    if (event == ParsedJson::parse_event_t::object_end) open_.pop_back();
    if (event == ParsedJson::parse_event_t::key && !open_.back().insert(parsed).second) {
      throw InputError(path_, "", fmt::format("key {} stands twice in one object", parsed.dump()));
    }
    return true;
  }

 private:
  const std::string& path_;
  std::vector<std::set<std::string>> open_;
};

// "3:14" of the byte before which `read` bytes stand.
std::string line_and_column(const std::string& text, std::size_t read) {
  const std::string_view before = std::string_view(text).substr(0, read > 0 ? read - 1 : 0);
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("{}:{}", line, before.size() - begin + 1);
}

}  // namespace

std::string text_of_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(std::filesystem::status(path, ignored))) {
    throw InputError(path, "", "is a directory");
  }
  return read_file(path);
}

std::shared_ptr<const ParsedJson> parse_json(const std::string& path, const std::string& text,
                                             const std::string& expected) {
  try {
    return std::make_shared<const ParsedJson>(ParsedJson::parse(text, RepeatedKeys(path)));
  } catch (const ParsedJson::parse_error& error) {
    throw InputError(path, line_and_column(text, error.byte),
                     "is no JSON here; expected " + expected);
  } catch (const ParsedJson::out_of_range&) {
    throw InputError(path, "", "a number of this JSON is out of range; expected " + expected);
  }
}

void JsonNode::refuse(const std::string& expected) const {
  std::string is = value_.dump(-1, ' ', false, ParsedJson::error_handler_t::replace);
  if (is.size() > 60) is = value_.type_name();
  throw InputError(file_, place_, fmt::format("is {}; expected {}", is, expected));
}

void JsonNode::expect_object(const std::vector<std::string>& keys) const {
  if (!value_.is_object()) refuse("an object");
  for (const auto& [key, value] : value_.items()) {
    if (std::ranges::find(keys, key) != keys.end()) continue;
    throw InputError(file_, place_,
                     fmt::format("unknown key '{}'{}", key, did_you_mean(key, keys)));
  }
}

bool JsonNode::is_object() const { return value_.is_object(); }
bool JsonNode::is_array() const { return value_.is_array(); }

bool JsonNode::has(const std::string& key) const { return value_.contains(key); }

JsonNode JsonNode::at(const std::string& key) const {
  if (!value_.contains(key)) {
    throw InputError(file_, place_, fmt::format("has no key '{}'", key));
  }
  return {file_, place_.empty() ? key : place_ + '.' + key, value_[key]};
}

std::vector<JsonNode> JsonNode::elements() const {
  if (!value_.is_array()) refuse("a list");
  std::vector<JsonNode> nodes;
  for (std::size_t i = 0; i < value_.size(); ++i) {
    nodes.emplace_back(file_, fmt::format("{}[{}]", place_, i), value_[i]);
  }
  return nodes;
}

std::vector<std::pair<std::string, JsonNode>> JsonNode::members() const {
  if (!value_.is_object()) refuse("an object");
  std::vector<std::pair<std::string, JsonNode>> nodes;
  for (const auto& [key, value] : value_.items()) {
    nodes.emplace_back(key, JsonNode(file_, place_.empty() ? key : place_ + '.' + key, value));
  }
  return nodes;
}

std::string JsonNode::text() const {
  if (!value_.is_string()) refuse("a text");
  return value_;
}

std::string JsonNode::text_or_written() const {
  return value_.is_string() ? text() : value_.dump();
}

std::uint64_t JsonNode::whole() const {
  if (!value_.is_number_unsigned()) refuse("a whole number that is not negative");
  return value_;
}

double JsonNode::number() const {
  if (!value_.is_number() || value_ < 0) refuse("a number that is not negative");
  return value_;
}

int JsonNode::gpu() const {
  if (!value_.is_number_integer() || value_ < -1 || value_ > (1 << 20)) {
    refuse("the number of a device, or -1 for host memory");
  }
  return value_;
}

}  // namespace memreplay
