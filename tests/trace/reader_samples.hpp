#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace memreplay {

/// A small file of a format, and what is to be read from it.
struct ReaderSample {
  std::string_view format;
  std::string bytes;            ///< SIZE stands for a size of 100 bytes
  std::string events;           ///< as drawn_events has them, of the first trace
  char separator = 0;           ///< a table's, whose columns may stand in any order
  bool is_hexadecimal = false;  ///< its sizes are
  bool is_text = true;

  std::string with_size(std::string_view size) const;
  std::string golden() const { return with_size(is_hexadecimal ? "64" : "100"); }
};

/// At least one for every registered reader.
const std::vector<ReaderSample>& reader_samples();

}  // namespace memreplay
