#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "core/text.hpp"
#include "report/formats/format.hpp"

namespace memreplay {
namespace {

/// Without the mark between frames, and on one line.
std::string collapsed_name(std::string text) {
  std::ranges::replace(text, ';', ',');
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

/// "forward (model.py:41)"
std::string collapsed_frame(const ProfiledFrame& frame) {
  std::string text = frame.function;
  if (!frame.file.empty()) {
    text += frame.line > 0 ? fmt::format(" ({}:{})", frame.file, frame.line)
                           : fmt::format(" ({})", frame.file);
  }
  return collapsed_name(std::move(text));
}

/// The format of B. Gregg's flame graphs: frames from the outermost on, then live bytes.
std::string collapsed(const std::vector<NamedProfile>& profiles) {
  std::map<std::string, Bytes> lines;
  for (const auto& [name, profile] : profiles) {
    for (const ProfiledStack& stack : profile.stacks) {
      if (stack.live == 0) continue;
      std::string line = collapsed_name(name);
      for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame) {
        line += line.empty() ? "" : ";";
        line += collapsed_frame(profile.frames[*frame]);
      }
      lines[line] += stack.live;
    }
  }
  std::string text;
  for (const auto& [line, bytes] : lines) text += fmt::format("{} {}\n", line, bytes);
  return text;
}

}  // namespace

ReportFormat collapsed_format() {
  return {.option = "--collapsed",
          .sentence = "Live bytes by stack, a line each: flame graphs.",
          .needs = ReportFormat::Needs::stacks,
          .write = [](const ReportParts& parts) { return as_utf8(collapsed(parts.stacks())); }};
}

}  // namespace memreplay
