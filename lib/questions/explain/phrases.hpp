#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "questions/explain/answer.hpp"

/// How the reports of an explanation say the same things.
namespace memreplay {

/// Why a request was not served, or what the memory looks like.
std::string verdict_sentence(const ExplainedDevice& device);

/// Something that costs memory, and what would change it.
struct Finding {
  std::string what;
  Bytes bytes = 0;
  std::string remedy;       ///< a setting or a place in the code; empty: none is known
  bool of_verdict = false;  ///< it stands beside the verdict, however few bytes it has
};

/// Most bytes first.
std::vector<Finding> findings(const ExplainedDevice& device);

/// What a short search says. At an OOM it goes up to that request, else through the whole
/// recording. Empty where there was none, or it found nothing. `with_search`: the command of a
/// longer one follows.
std::string advice(const ExplainedDevice& device, bool with_search = true);

}  // namespace memreplay
