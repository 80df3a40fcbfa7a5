#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/units.hpp"
#include "trace/json/json_node.hpp"
#include "trace/snapshot/torch_snapshot.hpp"
#include "trace/torch/plain_copy.hpp"
#include "trace/torch/snapshot_conversion.hpp"

namespace memreplay {
namespace {

/// Where it begins near the beginning of a text, amid other lines; npos where there is none.
std::size_t printed_snapshot_in(std::string_view text) {
  constexpr std::size_t kNear = 64 * kKiB;
  const std::string_view head = text.substr(0, kNear);
  const std::size_t key = std::min(head.find("'total_size'"), head.find("'device_traces'"));
  if (key == head.npos) return head.npos;
  const std::size_t whole = head.rfind("{'segments'", key);
  return whole != head.npos ? whole : head.rfind("[{'", key);
}

/// Its text as JSON, from there to its end: other names for null and truth values, lists for
/// tuples, one kind of quotation marks.
std::string json_of_printed(std::string_view text) {
  struct Name {
    std::string_view python;
    std::string_view json;
  };
  static constexpr Name kNames[] = {{"None", "null"}, {"True", "true"}, {"False", "false"}};
  std::string json;
  char quote = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\' && i + 1 < text.size()) {
        if (text[++i] != '\'') json += '\\';
        json += text[i];
      } else if (c == quote) {
        json += '"';
        quote = 0;
      } else {
        if (c == '"') json += '\\';
        json += c;
      }
      continue;
    }
    const auto name = std::ranges::find_if(
        kNames, [&](const Name& one) { return text.substr(i).starts_with(one.python); });
    if (name != std::end(kNames)) {
      json += name->json;
      i += name->python.size() - 1;
    } else if (c == '\'' || c == '"') {
      quote = c;
      json += '"';
    } else {
      json += c == '(' ? '[' : c == ')' ? ']' : c;
    }
    if (c == '[' || c == '{' || c == '(') ++depth;
    if ((c == ']' || c == '}' || c == ')') && --depth == 0) break;
  }
  return json;
}

constexpr std::string_view kFormat = "torch-json";

/// A value of the document as snapshot_conversion.hpp wants it.
class JsonView {
 public:
  explicit JsonView(const nlohmann::json& value) : value_(&value) {}

  ValueKind kind() const {
    using Type = nlohmann::json::value_t;
    switch (value_->type()) {
      case Type::null:
        return ValueKind::none;
      case Type::boolean:
        return ValueKind::boolean;
      case Type::number_integer:
      case Type::number_unsigned:
        return ValueKind::whole;
      case Type::number_float:
        return ValueKind::real;
      case Type::string:
        return ValueKind::text;
      case Type::array:
        return ValueKind::list;
      case Type::object:
        return ValueKind::dict;
      default:
        return ValueKind::other;
    }
  }
  bool boolean() const { return value_->get<bool>(); }
  double real() const { return value_->get<double>(); }
  std::string_view text() const { return value_->get_ref<const std::string&>(); }
  WholeNumber whole() const {
    if (value_->is_number_unsigned()) return {value_->get<std::uint64_t>(), false, false};
    return WholeNumber::of(value_->get<std::int64_t>());
  }
  std::size_t size() const { return value_->size(); }
  JsonView item(std::size_t i) const { return JsonView((*value_)[i]); }
  std::optional<JsonView> find(std::string_view key) const {
    const auto found = value_->find(key);
    return found == value_->end() ? std::nullopt : std::optional(JsonView(*found));
  }
  std::optional<JsonView> find(Word key) const { return find(text_of(key)); }
  std::uintptr_t identity() const { return 0; }

 private:
  const nlohmann::json* value_;
};

bool recognises(const Input& input) {
  constexpr std::size_t kNear = 64 * kKiB;
  const std::string_view head = input.bytes.substr(0, kNear);
  const std::size_t first = head.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  if (printed_snapshot_in(input.bytes) != std::string_view::npos) return true;
  if (first == std::string_view::npos || (head[first] != '{' && head[first] != '[')) return false;
  for (const std::string_view key : {"\"device_traces\"", "\"total_size\""}) {
    if (head.find(key) != std::string_view::npos) return true;
  }
  // Others have segments too, and buffers with offsets in them.
  return head.find("\"segments\"") != std::string_view::npos &&
         head.find("\"offset\"") == std::string_view::npos;
}

// `json` keeps what Python printed, where that is not JSON.
Input as_json(const Input& input, std::string& json) {
  const std::size_t printed = printed_snapshot_in(input.bytes);
  if (printed == std::string_view::npos) return input;
  json = json_of_printed(input.bytes.substr(printed));
  Input converted = input;
  converted.bytes = json;
  return converted;
}

Recording read(const Input& input, const ReadOptions& /*options*/) {
  const auto interpret = input.host ? host_recording : torch_recording;
  return interpret(read_torch_json(input), input.name, std::string(kFormat),
                   "PyTorch snapshot, JSON");
}

void copy(const Input& given, ValueWriter& writer) {
  PickleStore store(false);
  std::string json;
  const Input input = as_json(given, json);
  write_plain(input, store, read_json_values(input, store), writer);
}

}  // namespace

TorchSnapshot read_torch_json(const Input& given) {
  std::string json;
  const Input input = as_json(given, json);
  nlohmann::json document;
  try {
    document = nlohmann::json::parse(input.bytes);
  } catch (const nlohmann::json::parse_error& error) {
    refuse_json(input, error.byte, error.id);
  } catch (const nlohmann::json::exception& error) {
    refuse_json(input, 0, error.id);
  }
  SnapshotTexts texts;
  return convert_snapshot(JsonView(document), input.name, texts, input.bytes.size(), input.host);
}

ReaderInfo torch_json_reader() {
  return {kFormat, "The same PyTorch memory snapshot as JSON, or as Python prints it", recognises,
          read, copy};
}

}  // namespace memreplay
