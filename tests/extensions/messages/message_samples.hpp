#pragma once

#include <string_view>
#include <vector>

namespace memreplay {

/// A text of one kind of message, in one release's words, and figures that it states:
/// "requested 3.25 GiB" as "requested" and bytes.
struct MessageSample {
  std::string_view kind;
  std::string_view wording;  ///< where it comes from
  std::string_view text;
  std::vector<std::pair<std::string_view, double>> mebibytes;
};

/// Two wordings at least of every registered kind.
const std::vector<MessageSample>& message_samples();

}  // namespace memreplay
