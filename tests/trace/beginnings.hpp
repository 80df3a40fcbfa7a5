#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "core/error.hpp"
#include "trace/gate.hpp"
#include "trace/reader.hpp"

namespace memreplay {

/// What a reader says of a text that it does not take; "none" of another.
inline std::string refusal(const ReaderInfo& reader, std::string_view text) {
  try {
    check_recording(reader.read({"log", text}, {}));
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

/// A text that is cut anywhere is read, or refused by its file and line.
inline void expect_any_beginning(const ReaderInfo& reader, std::string_view text) {
  for (std::size_t length = 0; length < text.size(); ++length) {
    const std::string beginning(text.substr(0, length));  // so that a read after it is seen
    const std::string said = refusal(reader, beginning);
    EXPECT_TRUE(said == "none" || said.starts_with("log:")) << length << " bytes: " << said;
  }
}

}  // namespace memreplay
