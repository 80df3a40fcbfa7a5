#pragma once

#include <string>
#include <string_view>

namespace memreplay {

struct CostModel;

/// The schema of the files in which calibrations are kept.
inline constexpr std::string_view kProfileSchema = "memreplay-profile/1";

/// What the calls cost by a file of kProfileSchema: its medians. Throws InputError with line and
/// column, or the place in it.
CostModel read_cost_profile(const std::string& path);
/// What they cost by the text of such a file; `path` is for messages.
CostModel parse_cost_profile(const std::string& path, const std::string& text);

}  // namespace memreplay
