#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "metrics/run_metrics.hpp"
#include "trace/json/json.hpp"

/// The keys of an answer's JSON are named once, in a function `fields(JsonFields&, const Answer&)`,
/// each with its value and what it is. Over an answer that gives its JSON; over a default one, the
/// JSON Schema of such answers.
namespace memreplay {

/// A list, map or optional whose elements are objects: `write(JsonFields&, element)` names their
/// keys.
template <typename Values, typename Write>
struct Each {
  const Values& values;
  Write write;
};

template <typename Values, typename Write>
Each<Values, Write> each(const Values& values, Write write) {
  return {values, std::move(write)};
}

/// Names and values in their order, as an object.
template <typename T>
struct ByName {
  std::vector<std::pair<std::string, T>> pairs;
};

/// An object that is always there.
template <typename Write>
struct Part {
  Write write;
};
template <typename Write>
Part(Write) -> Part<Write>;

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsEach = false;
template <typename Values, typename Write>
inline constexpr bool kIsEach<Each<Values, Write>> = true;
template <typename T>
inline constexpr bool kIsByName = false;
template <typename T>
inline constexpr bool kIsByName<ByName<T>> = true;
template <typename T>
inline constexpr bool kIsPart = false;
template <typename Write>
inline constexpr bool kIsPart<Part<Write>> = true;
template <typename T>
inline constexpr bool kIsPair = false;
template <typename A>
inline constexpr bool kIsPair<std::pair<A, A>> = true;

template <typename T>
concept Text = std::convertible_to<const T&, std::string_view>;
template <typename T>
concept Leaf = Text<T> || std::is_arithmetic_v<T> || std::same_as<T, std::nullptr_t>;

/// What a value may be, in JSON Schema.
struct JsonType {
  std::string_view name;       ///< "integer"; empty: `rest` alone says it
  Json rest = Json::object();  ///< what else the schema says
  bool nullable = false;

  JsonType or_null() const { return {name, rest, true}; }
  Json schema(std::string_view about) const;
};

/// Writes the keys that it is called with: as JSON, or as the schema of an object.
class JsonFields {
 public:
  JsonFields() = default;
  /// For a schema. What is `called` by a name goes into `definitions`.
  explicit JsonFields(Json& definitions) : definitions_(&definitions) {}

  /// A value: a number, text or flag, an optional (unset is null), a list, a map, or whatever has
  /// `fields`. `about` says what it is, with its unit.
  template <typename T>
  void operator()(std::string_view key, const T& value, std::string_view about) {
    if (definitions_ != nullptr) {
      add_type(key, type_of(value), about);
    } else {
      json_[key] = json_of(value);
    }
  }
  /// One of some texts, or null.
  void one_of(std::string_view key, Json value, std::initializer_list<const char*> texts,
              std::string_view about);
  /// A value for which its C++ type does not say what it may be.
  void typed(std::string_view key, Json value, const JsonType& type, std::string_view about);
  void constant(std::string_view key, std::string_view text, std::string_view about);

  /// Whether the next key is to be written; a schema has every key, and knows that it may lack.
  bool sometimes(bool present);
  /// The schema of this object stands once, under a name.
  void called(std::string_view name) { name_ = name; }

  template <typename T>
  static Json of(const T& value) {
    return json_of(value);
  }
  const Json& json() const { return json_; }
  JsonType type() const;

 private:
  void add_type(std::string_view key, const JsonType& type, std::string_view about);

  template <typename Write>
  static Json written(Write write) {
    JsonFields inner;
    write(inner);
    return inner.json_;
  }

  template <typename Write>
  JsonType type_written(Write write) const {
    JsonFields inner(*definitions_);
    write(inner);
    return inner.type();
  }

  static JsonType list_of(const JsonType& element);
  static JsonType map_of(const JsonType& element);

  template <typename T>
  static Json json_of(const T& value);
  template <typename Range, typename Of>
  static Json array_of(const Range& values, Of of) {
    Json array = Json::array();
    for (const auto& value : values) array.push_back(of(value));
    return array;
  }
  template <typename Pairs>
  static Json map_json(const Pairs& pairs) {
    Json object = Json::object();
    for (const auto& [name, value] : pairs) object[name] = json_of(value);
    return object;
  }
  template <typename Values, typename Write>
  static Json each_json(const Each<Values, Write>& of);
  template <typename T>
  JsonType type_of(const T& value) const;
  template <typename Values, typename Write>
  JsonType each_type(const Each<Values, Write>& of) const;

  Json* definitions_ = nullptr;  ///< null: JSON is written
  Json json_ = Json::object();   ///< or the properties of the schema
  Json required_ = Json::array();
  bool may_lack_ = false;  ///< the next key
  std::string name_;
};

template <typename Values, typename Write>
Json JsonFields::each_json(const Each<Values, Write>& of) {
  const auto object = [&](const auto& value) {
    return written([&](JsonFields& f) { of.write(f, value); });
  };
  if constexpr (kIsOptional<Values>) {
    return of.values ? object(*of.values) : Json(nullptr);
  } else {
    return array_of(of.values, object);
  }
}

template <typename T>
Json JsonFields::json_of(const T& value) {
  if constexpr (kIsOptional<T>) {
    return value ? json_of(*value) : Json(nullptr);
  } else if constexpr (kIsEach<T>) {
    return each_json(value);
  } else if constexpr (kIsPart<T>) {
    return written(value.write);
  } else if constexpr (kIsByName<T>) {
    return map_json(value.pairs);
  } else if constexpr (kIsPair<T>) {
    return Json::array({json_of(value.first), json_of(value.second)});
  } else if constexpr (std::same_as<T, BytesInterval>) {
    return Json::array({value.low, value.high});
  } else if constexpr (Leaf<T>) {
    return Json(value);
  } else if constexpr (requires { typename T::mapped_type; }) {
    return map_json(value);
  } else if constexpr (std::ranges::range<T>) {
    return array_of(value, [](const auto& element) { return json_of(element); });
  } else {
    return written([&](JsonFields& f) { fields(f, value); });
  }
}

template <typename Values, typename Write>
JsonType JsonFields::each_type(const Each<Values, Write>& of) const {
  const JsonType type =
      type_written([&](JsonFields& f) { of.write(f, typename Values::value_type{}); });
  return kIsOptional<Values> ? type.or_null() : list_of(type);
}

template <typename T>
JsonType JsonFields::type_of(const T& value) const {
  if constexpr (kIsOptional<T>) {
    return type_of(typename T::value_type{}).or_null();
  } else if constexpr (std::same_as<T, std::nullptr_t>) {
    return {"null"};
  } else if constexpr (std::same_as<T, bool>) {
    return {"boolean"};
  } else if constexpr (std::integral<T>) {
    return {"integer"};
  } else if constexpr (std::floating_point<T>) {
    return {"number"};
  } else if constexpr (Text<T>) {
    return {"string"};
  } else if constexpr (kIsEach<T>) {
    return each_type(value);
  } else if constexpr (kIsPart<T>) {
    return type_written(value.write);
  } else if constexpr (kIsByName<T>) {
    return map_of(type_of(typename decltype(value.pairs)::value_type{}.second));
  } else if constexpr (kIsPair<T>) {
    return list_of(type_of(value.first));
  } else if constexpr (std::same_as<T, BytesInterval>) {
    return list_of({"integer"});
  } else if constexpr (requires { typename T::mapped_type; }) {
    return map_of(type_of(typename T::mapped_type{}));
  } else if constexpr (std::ranges::range<T>) {
    return list_of(type_of(std::ranges::range_value_t<T>{}));
  } else {
    return type_written([&](JsonFields& f) { fields(f, value); });
  }
}

}  // namespace memreplay
