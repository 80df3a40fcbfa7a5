#pragma once

#include <string>
#include <string_view>

namespace memreplay {

/// What a file is that no reader takes, and what to do with it: "is a zip archive: unpack it …".
/// Known by its first bytes: pointers of Git LFS and git-annex, web pages, archives, tensors and
/// models, reports of other tools, pictures. Empty for anything else. `name` is that of the file.
std::string named_content(std::string_view name, std::string_view bytes);

/// What a path is that cannot be opened: a URL, which is to be downloaded. Empty: nothing known.
std::string named_path(std::string_view path);

}  // namespace memreplay
