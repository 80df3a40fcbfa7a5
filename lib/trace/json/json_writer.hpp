#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "trace/value_writer.hpp"

namespace memreplay {

/// How many values were written for which JSON has no form.
struct JsonLosses {
  std::uint64_t byte_strings = 0;  ///< written as texts, each byte a character below U+0100
  std::uint64_t texts = 0;         ///< bytes in them that are no UTF-8 became U+FFFD
  std::uint64_t keys = 0;          ///< other than texts, written as texts
  std::uint64_t numbers = 0;       ///< infinite or no number; written as null

  bool any() const { return byte_strings + texts + keys + numbers > 0; }
};

/// Writes JSON on one line; tuples become arrays. Nothing is shared: what is recalled is written
/// out again. Memory: 64 KiB.
class JsonWriter final : public ValueWriter {
 public:
  explicit JsonWriter(std::ostream& out) : out_(out) {}

  void scalar(const PlainScalar& value) override;
  /// Throws std::invalid_argument for a container as key of a dict.
  void open(Container kind, std::optional<ObjectId> id = std::nullopt) override;
  void close() override;
  bool recall(ObjectId) override { return false; }
  void finish() override;

  const JsonLosses& losses() const { return losses_; }

 private:
  struct Open {
    bool dict = false;
    bool key_next = false;  ///< in a dict
    bool empty = true;
  };

  bool at_key() const { return !open_.empty() && open_.back().dict && open_.back().key_next; }
  void begin_item();
  void end_item();
  void put_scalar(const PlainScalar& value);
  void put_text(std::string_view text);
  void put_bytes(std::string_view bytes);
  void flush();

  std::ostream& out_;
  std::string text_;
  std::vector<Open> open_;
  JsonLosses losses_;
};

}  // namespace memreplay
