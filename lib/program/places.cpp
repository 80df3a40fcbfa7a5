#include "program/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/program.hpp"

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

constexpr std::uint32_t kUnknownPlace = 0;  ///< the number of the place of which nothing is known
constexpr std::uint32_t kEarlierPlace = 1;

constexpr std::string_view kGeneratedCode = "(generated code)";

// Names of generated files may be a hash of half a line, of which the beginning will do.
std::string without_hash(const std::string& label) {
  constexpr std::size_t kLongest = 40;
  constexpr std::size_t kKept = 12;
  constexpr std::string_view kEnd = ".py";
  const bool cut =
      label.size() > kLongest && label.ends_with(kEnd) && label.find('/') == label.npos;
  return cut ? fmt::format("{}…{}", label.substr(0, kKept), kEnd) : label;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string() : path.substr(0, slash);
}

class Namer {
 public:
  Namer(const Recording& recording, PlaceBy by) : recording_(recording), by_(by) {
    kinds_ = frame_kinds(recording);
    if (by == PlaceBy::unfolded) std::ranges::replace(kinds_, FrameKind::package, FrameKind::own);
    std::vector<bool> shown(kinds_.size());
    for (std::uint32_t i = 0; i < kinds_.size(); ++i) shown[i] = is_own(i);
    for (const auto& stack : recording.stacks) {
      if (!stack.empty()) shown[best(stack)] = true;
    }
    std::set<std::string> files, folders;
    for (std::uint32_t i = 0; i < kinds_.size(); ++i) {
      if (!shown[i] || kinds_[i] > FrameKind::framework) continue;
      const std::string path = path_of(i);
      files.insert(path);
      folders.insert(folder_of(path));
    }
    files_ = path_labels(files);
    folders_ = path_labels(folders);
  }

  bool is_own(std::uint32_t frame) const { return kinds_[frame] == FrameKind::own; }

  /// The frame that names a stack, which is not empty.
  std::uint32_t best(const std::vector<std::uint32_t>& stack) const {
    return *std::ranges::min_element(stack, {}, [&](std::uint32_t frame) { return kinds_[frame]; });
  }

  std::string name(std::uint32_t number) const {
    const Frame& frame = recording_.frames[number];
    const std::string_view function = text(frame.name);
    switch (kinds_[number]) {
      case FrameKind::own:
      case FrameKind::package:
      case FrameKind::framework:
        return code_place(number);
      case FrameKind::generated:
        return by_ == PlaceBy::module ? std::string(kGeneratedCode)
                                      : without_hash(file_label(number)) + " (generated)";
      case FrameKind::backward:
        return fmt::format("{} (autograd)", backward_function(function));
      case FrameKind::gradient_sums:
        return "gradient sums (autograd)";
      case FrameKind::engine:
        return "backward pass (autograd)";
      case FrameKind::native:
        return std::string(without_arguments(function));
      case FrameKind::plumbing:
        break;
    }
    return "(C++ frames only)";
  }

 private:
  std::string_view text(std::uint32_t number) const { return recording_.texts[number]; }
  std::string path_of(std::uint32_t frame) const {
    return tidy_path(text(recording_.frames[frame].file));
  }

  std::string file_label(std::uint32_t frame) const {
    const std::string path = path_of(frame);
    const auto label = files_.find(path);
    return label == files_.end() ? path : label->second;
  }

  std::string module(std::uint32_t frame) const {
    const std::string package = package_of(text(recording_.frames[frame].file));
    if (!package.empty()) return package;
    const auto label = folders_.find(folder_of(path_of(frame)));
    return label == folders_.end() || label->second.empty() ? file_label(frame)
                                                            : label->second + "/";
  }

  std::string code_place(std::uint32_t number) const {
    const Frame& frame = recording_.frames[number];
    if (by_ == PlaceBy::module) return module(number);
    const std::string file = file_label(number);
    if (by_ == PlaceBy::file) return file;
    const std::string_view function = text(frame.name);
    if (by_ == PlaceBy::function || frame.line == kNoLine) {
      return fmt::format("{} {}", file, function);
    }
    return fmt::format("{}:{} {}", file, frame.line, function);
  }

  const Recording& recording_;
  PlaceBy by_;
  std::vector<FrameKind> kinds_;  ///< by frame
  std::map<std::string, std::string> files_, folders_;
};

std::set<std::uint32_t> tags_of_requests(const Recording& recording) {
  std::set<std::uint32_t> tags;
  for (const Trace& trace : recording.traces) {
    for (std::size_t i = 0; i < trace.tags.size(); ++i) {
      if (trace.tags[i] != 0 && is_request(trace.ops[i])) tags.insert(trace.tags[i]);
    }
  }
  return tags;
}

}  // namespace

bool is_noise(const Recording& recording, const Frame& frame) {
  return frame_kind(recording.texts[frame.name], recording.texts[frame.file]) != FrameKind::own;
}

bool is_of_optimizer(const Recording& recording, std::uint32_t stack) {
  return std::ranges::any_of(recording.stacks[stack], [&](std::uint32_t frame) {
    return is_of_optimizer(recording.texts[recording.frames[frame].file]);
  });
}

std::string frame_text(const Recording& recording, const Frame& frame) {
  const std::string line = frame.line == kNoLine ? "" : fmt::format(":{}", frame.line);
  return fmt::format("{}{} {}", recording.texts[frame.file], line, recording.texts[frame.name]);
}

Asker asker_of(const Trace& trace, std::uint64_t event) {
  return {.stack = trace.stacks.empty() ? 0 : trace.stacks[event],
          .tag = trace.tags.empty() ? 0 : trace.tags[event]};
}

Asker asker_of(const Trace& trace, const BlockInfo& block) {
  return {.stack = block.stack, .before = trace.size() > 0};
}

bool says_who_asked(const Trace& trace) {
  for (std::uint64_t i = 0; i < trace.size(); ++i) {
    if (is_request(trace.ops[i]) && asker_of(trace, i).known()) return true;
  }
  return false;
}

Places::Places(const Recording& recording, PlaceBy by) {
  const Namer namer(recording, by);
  const std::set<std::uint32_t> tags = tags_of_requests(recording);
  names_ = {std::string(recording.frames.empty() && !tags.empty() ? kNoTag : kNoStack),
            std::string(kFromBefore)};
  std::map<std::string, std::uint32_t> numbers = {{names_[kUnknownPlace], kUnknownPlace},
                                                  {names_[kEarlierPlace], kEarlierPlace}};
  const auto number_of = [&](const std::string& name) {
    const auto [it, fresh] = numbers.emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (fresh) names_.push_back(name);
    return it->second;
  };
  std::vector<std::optional<std::uint32_t>> place_of_frame(recording.frames.size());
  const auto place_of = [&](std::uint32_t frame) {
    auto& place = place_of_frame[frame];
    if (!place) place = number_of(namer.name(frame));
    return *place;
  };
  for (const auto& stack : recording.stacks) {
    place_of_stack_.push_back(stack.empty() ? kUnknownPlace : place_of(namer.best(stack)));
    auto& callers = callers_.emplace_back();
    for (const std::uint32_t frame : stack) {
      if (!namer.is_own(frame)) continue;
      const std::uint32_t place = place_of(frame);
      if (callers.empty() || callers.back() != place) callers.push_back(place);
    }
  }
  for (const std::uint32_t tag : tags) place_of_tag_[tag] = number_of(recording.texts[tag]);
}

std::uint32_t Places::of(const Asker& asker) const {
  if (asker.stack < place_of_stack_.size() && place_of_stack_[asker.stack] != kUnknownPlace) {
    return place_of_stack_[asker.stack];
  }
  if (const auto tag = place_of_tag_.find(asker.tag); tag != place_of_tag_.end()) {
    return tag->second;
  }
  return asker.before ? kEarlierPlace : kUnknownPlace;
}

std::vector<std::string> Places::calls(const Asker& asker) const {
  std::vector<std::string> names;
  if (asker.stack < callers_.size()) {
    for (const std::uint32_t place : callers_[asker.stack]) names.push_back(name(place));
  }
  if (names.empty()) names.push_back(name_of(asker));
  std::ranges::reverse(names);
  return names;
}

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
