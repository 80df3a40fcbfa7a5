#include "trace/json/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace memreplay {

Json::Json() = default;
Json::Json(std::nullptr_t) {}
Json::Json(double value) : value_(value) {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::~Json() = default;
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;

Json& Json::operator=(Json other) noexcept {
  value_ = std::move(other.value_);
  return *this;
}

Json::Json(std::initializer_list<Json> values) {
  if (!std::ranges::all_of(values, &Json::is_pair)) {
    value_ = Array(values);
    return;
  }
  Object members;
  for (const Json& value : values) {
    const Array& pair = std::get<Array>(value.value_);
    members.push_back({std::get<std::string>(pair[0].value_), pair[1]});
  }
  value_ = std::move(members);
}

bool Json::is_pair() const {
  const Array* values = std::get_if<Array>(&value_);
  return values != nullptr && values->size() == 2 &&
         std::holds_alternative<std::string>(values->front().value_);
}

Json Json::array(std::initializer_list<Json> values) {
  Json json;
  json.value_ = Array(values);
  return json;
}

Json Json::object() {
  Json json;
  json.value_ = Object();
  return json;
}

bool Json::is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }

std::size_t Json::size() const { return std::get<Array>(value_).size(); }

Json& Json::operator[](std::size_t index) { return std::get<Array>(value_).at(index); }

void Json::push_back(Json value) { std::get<Array>(value_).push_back(std::move(value)); }

Json& Json::operator[](std::string_view key) {
  if (is_null()) value_ = Object();
  Object& members = std::get<Object>(value_);
  const auto found = std::ranges::find(members, key, &Member::key);
  if (found != members.end()) return found->value;
  return members.emplace_back(Member{std::string(key), nullptr}).value;
}

void Json::update(const Json& object) {
  for (const auto& [key, value] : std::get<Object>(object.value_)) (*this)[key] = value;
}

struct Json::Writer {
  std::string& out;
  int indent;
  int depth = 0;

  void operator()(const Array& values) {
    list('[', values, ']', [&](const Json& value) { std::visit(*this, value.value_); });
  }

  void operator()(const Object& members) {
    list('{', members, '}', [&](const Member& member) {
      (*this)(member.key);
      out += indent < 0 ? ":" : ": ";
      std::visit(*this, member.value.value_);
    });
  }

  // How numbers and texts look is left to the library.
  void operator()(const auto& leaf) {
    out += nlohmann::json(leaf).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  void list(char open, const auto& values, char close, auto write) {
    out += open;
    ++depth;
    bool first = true;
    for (const auto& value : values) {
      if (!first) out += ',';
      first = false;
      break_line();
      write(value);
    }
    --depth;
    if (!first) break_line();
    out += close;
  }

  void break_line() {
    if (indent < 0) return;
    out += '\n';
    out.append(static_cast<std::size_t>(indent * depth), ' ');
  }
};

std::string Json::dump(int indent) const {
  std::string out;
  Writer writer{out, indent};
  std::visit(writer, value_);
  return out;
}

}  // namespace memreplay
