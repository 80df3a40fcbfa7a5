#pragma once

#include <string>
#include <string_view>

#include "strategy/torch/assignment.hpp"

namespace memreplay::torch {

/// Why an assignment sets nothing.
enum class Lack { asked_for, removed, elsewhere };
Assignment without_value(Lack lack);

/// How a value is written, as far as a shell or a tool minds.
struct Writing {
  std::string_view command;      ///< on its line, before the name
  std::string_view text_behind;  ///< the value and its quote
  bool has_sign = false;         ///< '='
  bool has_blanks = false;       ///< around the sign
  bool is_quoted = false;
  bool is_with_name = false;  ///< in one pair of quotes
  bool is_python = false;
};

/// Notes what the value will not be, so written.
void note_writing(const Writing& writing, Assignment& read);

/// Drops what ends a sentence and no value; whether there was any.
bool drop_punctuation(std::string& conf);
/// Whether the text begins with "some_option:".
bool begins_an_option(std::string_view text);
/// Whether it is a variable's name, and so no value.
bool is_name(std::string_view conf);

}  // namespace memreplay::torch
