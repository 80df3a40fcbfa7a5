#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "strategy/torch/assignment.hpp"

namespace memreplay::torch {

inline constexpr std::string_view kBlanks = " \t\r";
inline constexpr std::string_view kQuotes = "'\"`";

bool is_of_name(char c);
std::string in_capitals(std::string_view text);
/// Without blanks and line breaks around it.
std::string_view trimmed(std::string_view text);

/// What stands after a name, and whether that assigns a value to it.
class AssignedValue {
 public:
  /// The name is [from, to) of the text.
  AssignedValue(std::string_view text, std::size_t from, std::size_t to);

  bool is_in_comment() const;
  /// Unset where nothing is assigned, nor a value taken away or asked for.
  std::optional<Assignment> read();
  /// Written for a shell of Windows.
  bool is_on_windows() const;
  /// Behind all that belongs to the value.
  std::size_t end() const { return at_; }

 private:
  static bool is_quote(char c) { return kQuotes.find(c) != kQuotes.npos; }
  std::string_view rest() const { return text_.substr(std::min(at_, text_.size())); }
  std::string_view line() const { return rest().substr(0, rest().find('\n')); }
  void skip(std::string_view characters);
  bool take(char c);
  std::optional<Assignment> read_assigned();
  bool is_of_set() const;
  bool take_sign();
  bool take_cell();
  bool take_key_of_value();
  bool take_value_before();
  bool follows_a_word();
  std::optional<Assignment> value();
  void take_opening();
  std::string literals();
  bool take_next_literal();
  Assignment plain_value();
  static Assignment up_to_the_end(std::string_view line, bool is_of_windows);
  static Assignment one_word(std::string_view line, bool is_quoted);
  void note_how_it_is_written(Assignment& read) const;

  std::string_view text_;
  std::string_view before_;   ///< the name, on its line
  std::string_view command_;  ///< the same without the prompt of a shell
  std::size_t from_;
  std::size_t at_;
  char quote_;                     ///< the one that ends the value; 0: none
  bool begins_in_quotes_ = false;  ///< the name alone, or with its value
  bool is_name_quoted_ = false;
  bool is_whole_line_ = false;
  bool has_blanks_ = false;  ///< around the sign
  bool is_default_ = false;  ///< that holds where the variable is not set
  bool is_call_ = false;     ///< literals may follow each other in lines of their own
  bool needs_literal_ = false;
  char sign_ = 0;
};

}  // namespace memreplay::torch
