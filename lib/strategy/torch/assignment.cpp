#include "strategy/torch/assignment.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "strategy/torch/assigned_value.hpp"
#include "strategy/torch/shell_references.hpp"
#include "strategy/torch/variable.hpp"

namespace memreplay::torch {
namespace {

/// A function that takes settings: torch.cuda.memory._set_allocator_settings and those under it.
bool is_function(std::string_view capitals) {
  return capitals.ends_with("SET_ALLOCATOR_SETTINGS") || capitals.ends_with("SETALLOCATORSETTINGS");
}

/// PYTORCH_CUDA_ALLOC_CONF and what is meant to be it, PYTORCH_NO_CUDA_MEMORY_CACHING.
bool is_setting_name(std::string_view capitals) {
  return capitals.find("ALLOC_CONF") != capitals.npos ||
         capitals.find("MEMORY_CACHING") != capitals.npos || is_mps_variable(capitals) ||
         (capitals.starts_with("PYTORCH_") && capitals.ends_with("_CONF")) || is_function(capitals);
}

std::string_view without_quotes(std::string_view text) {
  text = trimmed(text);
  const bool is_quoted =
      text.size() > 1 && text.front() == text.back() && kQuotes.find(text.front()) != kQuotes.npos;
  return is_quoted ? trimmed(text.substr(1, text.size() - 2)) : text;
}

/// A text that names none of PyTorch's variables: that of another, or a setting.
Assignment whole_text(std::string_view text) {
  constexpr std::string_view kExport = "export ";
  text = trimmed(text);
  text = trimmed(text.substr(0, text.find(" #")));
  std::string_view rest = without_quotes(text);
  if (rest.starts_with(kExport)) rest.remove_prefix(kExport.size());
  const std::size_t equals = std::min(rest.find('='), rest.size());
  const std::string_view name = rest.substr(0, equals);
  const bool is_variable =
      equals < rest.size() && !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
        return is_of_name(static_cast<char>(c)) && std::islower(c) == 0;
      });
  Assignment whole{"", std::string(without_quotes(text))};
  if (is_variable)
    whole = {std::string(name), std::string(without_quotes(rest.substr(equals + 1)))};
  whole.is_found = is_variable;
  return whole;
}

// O(text): a whole file may end its lines as Windows does.
void replace_all(std::string& text, std::string_view given, std::string_view by) {
  std::string replaced;
  std::size_t from = 0;
  for (std::size_t at = 0; (at = text.find(given, from)) != text.npos; from = at + given.size()) {
    replaced.append(text, from, at - from).append(by);
  }
  text = replaced.append(text, from);
}

}  // namespace

std::vector<Assignment> assignments_in(std::string_view given) {
  std::string text(given);
  replace_all(text, "\\\"", "\"");  // in a text within a text of JSON or a shell
  replace_all(text, "\r\n", "\n");
  replace_all(text, ",\\\n", ",");
  const std::string plain = text;
  text = with_references_marked(plain);
  std::vector<Assignment> found, in_comments, without_value;
  for (std::size_t from = 0; from < text.size();) {
    std::size_t to = from;
    while (to < text.size() && is_of_name(text[to])) ++to;
    const std::string_view name = std::string_view(text).substr(from, to - from);
    const std::string capitals = in_capitals(name);
    std::size_t next = to + 1;
    if (is_setting_name(capitals)) {
      AssignedValue value(text, from, to);
      if (auto read = value.read()) {
        if (!is_function(capitals)) read->variable = name;
        read->on_windows = value.is_on_windows();
        next = std::max(next, value.end());
        auto& of_its_kind = !read->sets ? without_value : found;
        (read->sets && value.is_in_comment() ? in_comments : of_its_kind)
            .push_back(std::move(*read));
      }
    }
    from = next;
  }
  if (found.empty()) found = std::move(in_comments);
  if (found.empty() && !without_value.empty()) found.push_back(std::move(without_value.front()));
  if (found.empty()) found.push_back(whole_text(plain));
  return found;
}

}  // namespace memreplay::torch
