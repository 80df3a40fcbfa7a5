#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace memreplay {

/// A value of a JSON report; an object keeps its keys in the order in which they are put in.
/// Written like nlohmann::ordered_json, which takes the compiler three seconds more in every file.
class Json {
 public:
  struct Member;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;

  Json();
  Json(std::nullptr_t);
  template <std::integral T>
  Json(T value);
  Json(double value);
  Json(const char* text);
  Json(std::string_view text);
  Json(std::string text);
  template <typename T>
  Json(const std::vector<T>& values);
  /// An object if all of `values` are pairs that begin with a text, as in {{"key", 1}, {"b", 2}};
  /// otherwise an array.
  Json(std::initializer_list<Json> values);
  ~Json();
  Json(const Json&);
  Json(Json&&) noexcept;
  /// By value: in json["a"] = json["b"] a new key may move the value that is copied.
  Json& operator=(Json) noexcept;

  static Json array(std::initializer_list<Json> values = {});
  static Json object();

  bool is_null() const;
  /// For an array.
  std::size_t size() const;
  Json& operator[](std::size_t index);
  void push_back(Json value);
  /// For an object, or null, which becomes one. A key that is not there is added.
  Json& operator[](std::string_view key);
  /// Sets every key of another object.
  void update(const Json& object);

  /// In one line; with `indent`, a line for each value. Bytes that are no UTF-8 are replaced.
  std::string dump(int indent = -1) const;

 private:
  struct Writer;

  bool is_pair() const;

  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Array,
               Object>
      value_;
};

struct Json::Member {
  std::string key;
  Json value;
};

template <std::integral T>
Json::Json(T value) {
  if constexpr (std::same_as<T, bool>) {
    value_ = value;
  } else if constexpr (std::signed_integral<T>) {
    value_ = static_cast<std::int64_t>(value);
  } else {
    value_ = static_cast<std::uint64_t>(value);
  }
}

template <typename T>
Json::Json(const std::vector<T>& values) : value_(Array(values.begin(), values.end())) {}

}  // namespace memreplay
