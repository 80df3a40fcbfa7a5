#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trace/pickle/pickle_value.hpp"

namespace memreplay {

// Operands of the opcodes that protocol 0 writes as lines of text.

/// INT: "12", "-3"; "00" and "01" are truth values.
std::optional<PickleValue> pickle_int(std::string_view line);
/// LONG: "12L".
std::optional<PickleValue> pickle_long(std::string_view line);
/// FLOAT: "1.5", "-inf".
std::optional<PickleValue> pickle_float(std::string_view line);
/// UNICODE: Latin-1 with \uXXXX and \UXXXXXXXX, as UTF-8.
std::string pickle_unicode(std::string_view line);
/// STRING: a Python 2 literal in quotes; unset without them.
std::optional<std::string> pickle_string(std::string_view line);

}  // namespace memreplay
