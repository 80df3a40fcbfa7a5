#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace memreplay {

/// What bytes choose, in their order. Where they have ended, always the first.
class Choices {
 public:
  explicit Choices(std::string_view bytes) : left_(bytes) {}

  std::size_t below(std::size_t count);
  bool yes() { return below(2) == 1; }
  template <typename List>
  const auto& of(const List& list) {
    return list[below(list.size())];
  }

 private:
  std::string_view left_;
};

/// A command, its arguments and some of its options, with values of what they take and others. What
/// needs more than files and simulated memory is left out. Files are those of `folder`: "a" and "b"
/// are there, others are to be written.
std::vector<std::string> chosen_command_line(Choices& choices, const std::string& folder);

}  // namespace memreplay
