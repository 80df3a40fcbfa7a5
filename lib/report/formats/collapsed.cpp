#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "core/text.hpp"
#include "report/formats/format.hpp"

namespace memreplay {
namespace {

/// "forward (model.py:41)", without the mark between frames.
std::string collapsed_frame(const ProfiledFrame& frame) {
  std::string text = frame.function;
  if (!frame.file.empty()) {
    text += frame.line > 0 ? fmt::format(" ({}:{})", frame.file, frame.line)
                           : fmt::format(" ({})", frame.file);
  }
  std::ranges::replace(text, ';', ',');
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// The format of B. Gregg's flame graphs: frames from the outermost on, then live bytes.
std::string collapsed(const std::vector<NamedProfile>& profiles) {
  std::map<std::string, Bytes> lines;
  for (const auto& [name, profile] : profiles) {
    for (const ProfiledStack& stack : profile.stacks) {
      if (stack.live == 0) continue;
      std::string line = name;
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
