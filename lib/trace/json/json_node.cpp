#include "trace/json/json_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <unordered_map>

#include "core/error.hpp"
#include "core/text.hpp"
#include "trace/input.hpp"

namespace memreplay {
namespace {

using Tree = nlohmann::json;

/// Takes the parts of a document as nlohmann's parser meets them.
class JsonValues final : public nlohmann::json_sax<Tree> {
 public:
  JsonValues(const Input& input, PickleStore& store) : input_(input), store_(store) {
    open_.emplace_back();
  }

  const PickleValue& root() const { return open_.front().items.front(); }

  bool null() override { return add({.tag = PickleTag::none}); }
  bool boolean(bool truth) override { return add({.tag = PickleTag::boolean, .bits = truth}); }
  bool number_integer(number_integer_t whole) override {
    return add({.tag = PickleTag::whole, .bits = static_cast<std::uint64_t>(whole)});
  }
  bool number_unsigned(number_unsigned_t whole) override {
    return add({.tag = whole <= INT64_MAX ? PickleTag::whole : PickleTag::whole_above_2_63,
                .bits = whole});
  }
  bool number_float(number_float_t real, const string_t& digits) override {
    if (digits.find_first_of(".eE") != std::string::npos) {
      return add({.tag = PickleTag::real, .bits = std::bit_cast<std::uint64_t>(real)});
    }
    PickleValue huge = text_of(digits);
    huge.tag = PickleTag::huge_decimal;
    huge.word = Word::none;
    return add(huge);
  }
  bool string(string_t& text) override { return add(text_of(text)); }
  bool binary(binary_t&) override { return false; }  // never in a text

  bool start_object(std::size_t) override { return begin(PickleTag::dict); }
  bool start_array(std::size_t) override { return begin(PickleTag::list); }
  bool key(string_t& text) override { return add(text_of(text)); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }

  bool parse_error(std::size_t byte, const std::string&,
                   const nlohmann::detail::exception& error) override {
    refuse_json(input_, byte, error.id);
  }

 private:
  struct Open {
    PickleTag tag = PickleTag::list;
    Word key = Word::none;  ///< under which it stands
    bool shares = false;    ///< it, or what holds it, stands under "frames"
    std::vector<PickleValue> items;
  };

  bool add(const PickleValue& value) {
    open_.back().items.push_back(value);
    return true;
  }

  bool begin(PickleTag tag) {
    const Open& parent = open_.back();
    const bool is_value = parent.tag == PickleTag::dict && !parent.items.empty();
    const Word key = is_value ? parent.items.back().word : Word::none;
    const bool shares = parent.shares || key == Word::frames;
    open_.push_back({.tag = tag, .key = key, .shares = shares, .items = {}});
    return true;
  }

  bool end() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    if (closed.key == Word::pool_id || closed.key == Word::segment_pool_id) {
      if (closed.tag == PickleTag::list) return add(store_.make_tuple(closed.items));
    }
    if (!closed.shares) return add(keep(closed));
    std::string name(1, static_cast<char>(closed.tag));
    for (const PickleValue& item : closed.items) {
      name += static_cast<char>(item.tag);
      name.append(reinterpret_cast<const char*>(&item.index), sizeof item.index);
      name.append(reinterpret_cast<const char*>(&item.bits), sizeof item.bits);
    }
    auto [known, fresh] = shared_.try_emplace(std::move(name));
    if (fresh) known->second = keep(closed);
    return add(known->second);
  }

  PickleValue keep(Open& closed) {
    const auto number = static_cast<std::uint32_t>(store_.objects.size());
    PickleObject& object = store_.objects.emplace_back();
    if (!closed.items.empty()) {
      closed.items.shrink_to_fit();
      store_.contents_of(object) = std::move(closed.items);
    }
    return {.tag = closed.tag, .index = number};
  }

  /// Equal texts are one, so that equal values have equal bytes.
  PickleValue text_of(const std::string& text) {
    if (const auto known = texts_.find(text); known != texts_.end()) return known->second;
    const std::string& kept = store_.decoded.emplace_back(text);
    const PickleValue value{.tag = PickleTag::text,
                            .word = word_of(kept),
                            .index = static_cast<std::uint32_t>(kept.size()),
                            .bits = reinterpret_cast<std::uintptr_t>(kept.data())};
    return texts_.emplace(kept, value).first->second;
  }

  const Input& input_;
  PickleStore& store_;
  std::vector<Open> open_;
  std::unordered_map<std::string_view, PickleValue> texts_;
  std::unordered_map<std::string, PickleValue> shared_;  ///< by their kind and items
};

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
                     "is not JSON here; expected " + expected);
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

PickleValue read_json_values(const Input& input, PickleStore& store) {
  JsonValues values(input, store);
  Tree::sax_parse(input.bytes, &values);
  return values.root();
}

void refuse_json(const Input& input, std::size_t byte, int error) {
  constexpr int kOutOfRange = 406;
  if (error == kOutOfRange) {
    throw InputError(input.name, "", "a number of this JSON is out of range");
  }
  throw InputError(input.name, fmt::format("byte {}", human_count(byte)),
                   "is not JSON from here on; the file is truncated or damaged");
}

}  // namespace memreplay
