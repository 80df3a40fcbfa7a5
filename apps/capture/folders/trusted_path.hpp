#pragma once

#include <filesystem>
#include <string>

namespace memreplay {

/// Why somebody other than this user and root could change which folder a path names: "/tmp/a
/// belongs to user 33". Every folder on the way is looked at, and every link; what is not there yet
/// is not. Empty where nobody could.
std::string why_untrusted(const std::filesystem::path& folder);

/// Why a folder is not this user's alone to write to, or is none; empty where it is. Links are not
/// followed.
std::string why_not_own(const std::filesystem::path& folder);

/// A regular file of this user, which nobody else can write to, with this content. Links are not
/// followed.
bool holds(const std::filesystem::path& file, std::string_view content);

}  // namespace memreplay
