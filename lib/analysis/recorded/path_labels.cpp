#include "analysis/recorded/path_labels.hpp"

#include <algorithm>
#include <vector>

namespace memreplay {
namespace {

// The last parts of a path, or all where it has fewer.
std::string_view ending(std::string_view path, std::size_t parts) {
  std::size_t at = path.size();
  for (; parts > 0; --parts) {
    if (at == 0 || at == path.npos) return path;
    at = path.rfind('/', at - 1);
  }
  return at == path.npos ? path : path.substr(at + 1);
}

}  // namespace

std::string tidy_path(std::string_view path) {
  if (path.starts_with('<')) return std::string(path);
  std::vector<std::string> parts(1);
  for (const char c : path) {
    if (c == '/' || c == '\\') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool up = parts[i] == ".." && !kept.empty() && kept.back() != "..";
    if (up) kept.pop_back();
    if (!up && parts[i] != "." && (i == 0 || !parts[i].empty())) kept.push_back(parts[i]);
  }
  std::string tidy;
  for (std::size_t i = 0; i < kept.size(); ++i) tidy += (i > 0 ? "/" : "") + kept[i];
  return tidy;
}

std::map<std::string, std::string> path_labels(const std::set<std::string>& paths) {
  std::map<std::string, std::string> labels;
  std::set<std::string> open = paths;
  for (std::size_t parts = 1; !open.empty(); ++parts) {
    std::map<std::string_view, std::size_t> count;
    for (const std::string& path : paths) ++count[ending(path, parts)];
    std::erase_if(open, [&](const std::string& path) {
      const std::string_view end = ending(path, parts);
      if (count[end] > 1 && end != path) return false;
      labels[path] = end;
      return true;
    });
  }
  return labels;
}

}  // namespace memreplay
