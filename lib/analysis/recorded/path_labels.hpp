#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace memreplay {

/// "a/c/d.py" of "a/b/..\c/d.py".
std::string tidy_path(std::string_view path);

/// The shortest endings that tell tidy paths apart: "enc/model.py" and "dec/model.py", but
/// "train.py".
std::map<std::string, std::string> path_labels(const std::set<std::string>& paths);

}  // namespace memreplay
