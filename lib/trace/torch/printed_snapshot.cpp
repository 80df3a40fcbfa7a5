#include "trace/torch/printed_snapshot.hpp"

#include <algorithm>

#include "core/units.hpp"

namespace memreplay {

std::size_t printed_snapshot_in(std::string_view text) {
  constexpr std::size_t kNear = 64 * kKiB;
  const std::string_view head = text.substr(0, kNear);
  const std::size_t key = std::min(head.find("'total_size'"), head.find("'device_traces'"));
  if (key == head.npos) return head.npos;
  const std::size_t whole = head.rfind("{'segments'", key);
  return whole != head.npos ? whole : head.rfind("[{'", key);
}

std::string json_of_printed(std::string_view text) {
  struct Name {
    std::string_view python;
    std::string_view json;
  };
  static constexpr Name kNames[] = {{"None", "null"}, {"True", "true"}, {"False", "false"}};
  std::string json;
  char quote = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\' && i + 1 < text.size()) {
        if (text[++i] != '\'') json += '\\';
        json += text[i];
      } else if (c == quote) {
        json += '"';
        quote = 0;
      } else {
        if (c == '"') json += '\\';
        json += c;
      }
      continue;
    }
    const auto name = std::ranges::find_if(
        kNames, [&](const Name& one) { return text.substr(i).starts_with(one.python); });
    if (name != std::end(kNames)) {
      json += name->json;
      i += name->python.size() - 1;
    } else if (c == '\'' || c == '"') {
      quote = c;
      json += '"';
    } else {
      json += c == '(' ? '[' : c == ')' ? ']' : c;
    }
    if (c == '[' || c == '{' || c == '(') ++depth;
    if ((c == ']' || c == '}' || c == ')') && --depth == 0) break;
  }
  return json;
}

}  // namespace memreplay
