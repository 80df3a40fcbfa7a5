#include "report/parts/json_fields.hpp"

namespace memreplay {

Json JsonType::schema(std::string_view about) const {
  Json json;
  if (name.empty() && nullable) {
    json["anyOf"] = Json::array({rest, Json{{"type", "null"}}});
  } else {
    if (!name.empty()) json["type"] = nullable ? Json::array({name, "null"}) : Json(name);
    json.update(rest);
  }
  if (!about.empty()) json["description"] = about;
  return json;
}

void JsonFields::one_of(std::string_view key, Json value, std::initializer_list<const char*> texts,
                        std::string_view about) {
  Json names = Json::array();
  for (const char* text : texts) names.push_back(text);
  names.push_back(nullptr);
  JsonType type;
  type.rest["enum"] = std::move(names);
  typed(key, std::move(value), type, about);
}

void JsonFields::typed(std::string_view key, Json value, const JsonType& type,
                       std::string_view about) {
  if (definitions_ != nullptr) {
    add_type(key, type, about);
  } else {
    json_[key] = std::move(value);
  }
}

void JsonFields::constant(std::string_view key, std::string_view text, std::string_view about) {
  JsonType type;
  type.rest["const"] = text;
  typed(key, text, type, about);
}

bool JsonFields::sometimes(bool present) {
  may_lack_ = true;
  return present || definitions_ != nullptr;
}

void JsonFields::add_type(std::string_view key, const JsonType& type, std::string_view about) {
  json_[key] = type.schema(about);
  if (!may_lack_) required_.push_back(key);
  may_lack_ = false;
}

JsonType JsonFields::type() const {
  JsonType type{"object"};
  type.rest["properties"] = json_;
  type.rest["required"] = required_;
  type.rest["additionalProperties"] = false;
  if (name_.empty()) return type;
  (*definitions_)[name_] = type.schema("");
  JsonType there;
  there.rest["$ref"] = "#/$defs/" + name_;
  return there;
}

JsonType JsonFields::list_of(const JsonType& element) {
  JsonType type{"array"};
  type.rest["items"] = element.schema("");
  return type;
}

JsonType JsonFields::map_of(const JsonType& element) {
  JsonType type{"object"};
  type.rest["additionalProperties"] = element.schema("");
  return type;
}

}  // namespace memreplay
