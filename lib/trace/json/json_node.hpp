#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "trace/pickle/pickle_value.hpp"
#include "trace/reader.hpp"

/// Files of our own that are JSON, read so that every complaint names its place.

namespace memreplay {

/// Keys stand in the order in which they were put in.
/// The whole file. Throws InputError where it cannot be read.
std::string text_of_file(const std::string& path);

/// Throws InputError with line and column for what is no JSON, and for a key that stands twice in
/// one object: of those only one would count. `expected`: "a baseline as --update writes it".
std::shared_ptr<const nlohmann::ordered_json> parse_json(const std::string& path,
                                                         const std::string& text,
                                                         const std::string& expected);

/// A value of a file and where it stands. What it is asked to be and is not throws InputError.
class JsonNode {
 public:
  JsonNode(const std::string& file, std::string place, const nlohmann::ordered_json& value)
      : file_(file), place_(std::move(place)), value_(value) {}

  /// "PLACE: is VALUE; expected …"
  [[noreturn]] void refuse(const std::string& expected) const;
  /// With no other keys than these.
  void expect_object(const std::vector<std::string>& keys) const;

  bool is_object() const;
  bool is_array() const;
  bool has(const std::string& key) const;
  JsonNode at(const std::string& key) const;
  std::vector<JsonNode> elements() const;
  std::vector<std::pair<std::string, JsonNode>> members() const;

  std::string text() const;
  std::uint64_t whole() const;
  double number() const;  ///< not negative
  int gpu() const;

  /// A text, or what else stands there as it is written.
  std::string text_or_written() const;

  const std::string& file() const { return file_; }
  const std::string& place() const { return place_; }

 private:
  const std::string& file_;
  std::string place_;
  const nlohmann::ordered_json& value_;
};

/// The values of a JSON document, as a pickle would have made them: pool ids are tuples, and equal
/// lists of frames are one object. Throws InputError.
PickleValue read_json_values(const Input& input, PickleStore& store);

/// What nlohmann's parser refuses there, by the number of its error.
[[noreturn]] void refuse_json(const Input& input, std::size_t byte, int error);

}  // namespace memreplay
