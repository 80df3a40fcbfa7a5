#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/oom_message.hpp"

namespace memreplay {

/// What a pattern found in place of a field.
struct PatternValue {
  RoundedBytes size;
  std::uint64_t count = 0;
  std::string_view word;
  bool overflows = false;  ///< a size beyond any device, `word` as written
};

struct PatternMatch {
  std::size_t at = 0;
  std::size_t end = 0;
  std::array<PatternValue, 6> values;  ///< in the order of the fields
};

/// Words of a message with fields in braces: "Tried to allocate {requested}". Blanks do not count,
/// as a packed text has none. A field is named like a figure, a count or a word of an OomMessage;
/// {size}, {number} and {word} are found too, for who asks for values. A size has its unit in the
/// text or, "{limit:MiB}", in the pattern where the text has none. {*} passes over a few
/// characters, {~} over what stands between a key and its value. A pattern begins with a word; one
/// that ends in a digit does not end within a number.
///
/// Numbers that the text may have cut, or that a line break parts in two ways, are not found.
class Pattern {
 public:
  Pattern(const char* words);  // NOLINT: tables of patterns

  /// The characters that a match begins with.
  const std::string& beginning() const { return pieces_.front().literal; }
  /// Whether it finds a size.
  bool has_figure() const;
  /// A match that begins right there.
  std::optional<PatternMatch> match_at(std::string_view packed, std::size_t at) const;
  /// The first match that begins in [from, to).
  std::optional<PatternMatch> find(std::string_view packed, std::size_t from, std::size_t to) const;
  /// Puts what its fields found where the message has nothing yet.
  void fill(const PatternMatch& match, OomMessage& message) const;

 private:
  enum class Kind { literal, size, number, word, gap, separators };
  enum class Target { figure, count, word, none };
  struct Piece {
    Kind kind = Kind::literal;
    std::string literal;
    Target target = Target::none;
    std::size_t index = 0;
    double unit = 0;  ///< 0: in the text

    bool has_value() const {
      return kind == Kind::size || kind == Kind::number || kind == Kind::word;
    }
  };

  void add_field(std::string_view field);
  bool match_field(const Piece& piece, const Piece* next, std::string_view packed, std::size_t& at,
                   PatternValue& value) const;

  std::vector<Piece> pieces_;
};

}  // namespace memreplay
