#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace memreplay {

/// Numbers texts as they come, the empty one 0, and puts each new one among those of a recording.
class TextNumbers {
 public:
  /// `texts` begins with the empty one, and outlives this.
  explicit TextNumbers(std::vector<std::string>& texts) : texts_(texts) {}

  std::uint32_t number_of(std::string_view text) {
    if (text.empty()) return 0;
    if (const auto known = numbers_.find(text); known != numbers_.end()) return known->second;
    const auto next = static_cast<std::uint32_t>(texts_.size());
    numbers_.emplace(text, next);
    texts_.emplace_back(text);
    return next;
  }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  std::vector<std::string>& texts_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
};

}  // namespace memreplay
