#pragma once

#include <string_view>

namespace memreplay {

/// An option of something that is written as NAME:key=value,…
struct OptionInfo {
  std::string_view key;
  std::string_view values;         ///< "SIZE", "first|best"
  std::string_view default_value;  ///< as a person would write it
  std::string_view sentence;
};

}  // namespace memreplay
