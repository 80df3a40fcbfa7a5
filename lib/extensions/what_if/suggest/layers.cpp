#include "extensions/what_if/suggest/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "extensions/what_if/edit/code_instances.hpp"
#include "extensions/what_if/edit/edit.hpp"
#include "program/places.hpp"
#include "program/program_course.hpp"
#include "trace/frame_kind.hpp"
#include "trace/trace.hpp"

namespace memreplay {
namespace {

/// Whose code may be a layer: each includes the ones before.
enum class LayersOf : std::uint8_t { program, packages, framework, none };

/// Modules of PyTorch, such as TransformerEncoderLayer, but what calls any module.
bool is_module_of_framework(std::string_view file) {
  return file.find("torch/nn/modules/") != file.npos && !file.ends_with("/module.py") &&
         !file.ends_with("/container.py");
}

LayersOf owner_of(const Recording& recording, const Frame& frame, FrameKind kind) {
  if (frame.line == kNoLine) return LayersOf::none;
  if (kind == FrameKind::own) return LayersOf::program;
  if (kind == FrameKind::package) return LayersOf::packages;
  return is_module_of_framework(recording.texts[frame.file]) ? LayersOf::framework : LayersOf::none;
}

/// A line of a file, both as a recording numbers them.
struct FileLine {
  std::uint32_t file = 0;
  std::uint32_t line = 0;

  friend auto operator<=>(const FileLine&, const FileLine&) = default;
};

/// A function whose runs may be layers, as far as stacks show it.
struct OwnFunction {
  std::uint32_t file = 0;  ///< index into Recording::texts
  std::uint32_t name = 0;  ///< index into Recording::texts
  std::uint32_t first = 0;
  std::uint32_t last = 0;       ///< line, included
  std::set<FileLine> calls;     ///< lines of such functions that call it
  bool called_directly = true;  ///< through no other code, such as torch.nn.Sequential
  bool runs_optimizer = false;  ///< itself, or what it calls

  bool holds(const FileLine& at) const {
    return at.file == file && first <= at.line && at.line <= last;
  }
};

/// Finds the functions of a program in its stacks, which name a function, its file and the line
/// reached. Methods of several classes may have one name in one file (forward): lines far enough
/// apart for another class between them are of two functions where other lines call them.
class OwnFunctions {
 public:
  /// `frames`: whose each one is.
  OwnFunctions(const Recording& recording, const std::vector<LayersOf>& frames, LayersOf whose);

  void add(const std::vector<std::uint32_t>& stack);
  /// Without module levels, lambdas and what makes a model (__init__).
  std::vector<OwnFunction> functions() const;

 private:
  struct Line {
    std::set<FileLine> calls;
    bool called_directly = true;
    bool runs_optimizer = false;
  };

  const Recording& recording_;
  std::vector<bool> is_own_;        ///< by frame
  std::vector<bool> is_optimizer_;  ///< by frame
  std::vector<bool> is_call_;       ///< by frame: calls a torch.nn.Module
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::uint32_t, Line>> lines_;
};

/// Layers save at least one part in so many of all that a program saves.
constexpr Bytes kPartsThatAreLayers = 4;
constexpr std::uint32_t kLinesOfAHeader = 3;  ///< "class", "def" and a body

bool is_layer_name(std::string_view name) { return name != "__init__" && !name.starts_with('<'); }

OwnFunctions::OwnFunctions(const Recording& recording, const std::vector<LayersOf>& frames,
                           LayersOf whose)
    : recording_(recording) {
  for (const LayersOf frame : frames) is_own_.push_back(frame <= whose);
  for (const Frame& frame : recording.frames) {
    is_call_.push_back(recording.texts[frame.file].ends_with("torch/nn/modules/module.py"));
    is_optimizer_.push_back(is_of_optimizer(recording.texts[frame.file]));
  }
}

void OwnFunctions::add(const std::vector<std::uint32_t>& stack) {
  const bool optimizes =
      std::ranges::any_of(stack, [&](std::uint32_t frame) { return is_optimizer_[frame]; });
  const Frame* caller = nullptr;
  bool directly = true;
  for (auto number = stack.rbegin(); number != stack.rend(); ++number) {
    if (!is_own_[*number]) {
      directly &= is_call_[*number];
      continue;
    }
    const Frame& frame = recording_.frames[*number];
    Line& line = lines_[{frame.file, frame.name}][frame.line];
    if (caller != nullptr) {
      line.calls.insert({caller->file, caller->line});
      line.called_directly &= directly;
    }
    directly = true;
    line.runs_optimizer |= optimizes;
    caller = &frame;
  }
}

std::vector<OwnFunction> OwnFunctions::functions() const {
  std::vector<OwnFunction> functions;
  for (const auto& [function, lines] : lines_) {
    if (!is_layer_name(recording_.texts[function.second])) continue;
    const std::set<FileLine>* before = nullptr;  // what calls the line before
    for (const auto& [number, line] : lines) {
      const bool another = before == nullptr || (*before != line.calls &&
                                                 number - functions.back().last >= kLinesOfAHeader);
      if (another)
        functions.push_back({.file = function.first,
                             .name = function.second,
                             .first = number,
                             .last = number,
                             .calls = {}});
      functions.back().last = number;
      functions.back().calls.insert(line.calls.begin(), line.calls.end());
      functions.back().called_directly &= line.called_directly;
      functions.back().runs_optimizer |= line.runs_optimizer;
      before = &line.calls;
    }
  }
  return functions;
}

/// A function that runs several times in a forward pass.
struct RepeatedFunction {
  OwnFunction function;
  LayerCode layer;
  std::map<std::uint32_t, Bytes> saved_at;  ///< by its line
  std::vector<std::uint32_t> common;        ///< lines of it that all runs have, ascending
};

class LayerFinder {
 public:
  LayerFinder(const Recording& recording, const ProgramCourse& course,
              const std::vector<LayersOf>& frames, LayersOf whose)
      : recording_(recording), course_(course), own_(recording, frames, whose) {
    std::set<std::uint32_t> stacks;
    for (std::size_t i = 0; i < course_.allocations().size(); ++i) {
      if (!course_.is_backward(i)) stacks.insert(course_.life(course_.block_of(i)).stack);
    }
    for (const std::uint32_t stack : stacks) own_.add(course_.recording().stacks[stack]);
    std::set<std::string> paths;
    for (const Frame& frame : recording.frames) {
      paths.insert(tidy_path(recording.texts[frame.file]));
    }
    labels_ = path_labels(paths);
  }

  std::vector<LayerCode> find() {
    for (const OwnFunction& function : own_.functions()) look_at(function);
    for (const RepeatedFunction& one : repeated_) {
      (only_calls(one) ? callers_ : layers_).push_back(&one);
    }
    std::vector<LayerCode> layers;
    for (const RepeatedFunction* one : layers_) layers.push_back(with_calls(*one));
    std::ranges::stable_sort(layers, std::ranges::greater(), &LayerCode::saved);
    return layers;
  }

 private:
  const std::string& label(std::uint32_t file) const {
    return labels_.at(tidy_path(recording_.texts[file]));
  }

  void look_at(const OwnFunction& function) {
    const std::string& file = label(function.file);
    if (function.runs_optimizer || file.find_first_of(",&") != std::string::npos) return;
    RepeatedFunction found{.function = function, .layer = {}, .saved_at = {}, .common = {}};
    line_of_stack_.assign(course_.recording().stacks.size(), kNoLine);
    LayerCode& layer = found.layer;
    layer.code = fmt::format("{}:{}-{}", file, function.first, function.last);
    layer.function = recording_.texts[function.name];
    layer.package = package_of(recording_.texts[function.file]);
    std::uint32_t alike = 0;
    const Selector selector = parse_selector("--edit", layer.selector());
    std::map<std::uint32_t, std::uint32_t> of_length;  // in a step, by allocations
    for (const CodeInstance& instance :
         instances_of(course_.recording(), course_.trace(), course_.allocations(), course_.passes(),
                      selector)) {
      if (instance.place == 0) of_length.clear();
      alike = std::max(alike, ++of_length[instance.last - instance.first]);
      std::vector<std::uint32_t> lines = lines_of(instance, found);
      if (layer.instances == 0) {
        layer.begins = course_.event_of(instance.first);
        found.common = std::move(lines);
      } else {
        std::erase_if(found.common,
                      [&](std::uint32_t line) { return !std::ranges::binary_search(lines, line); });
      }
      layer.instances = std::max(layer.instances, instance.place + 1);
    }
    // Runs of one code are alike, for the most part; those of a whole step are not.
    const bool repeats = alike > 1 && alike * 2 >= layer.instances;
    if (repeats && layer.saved > 0) repeated_.push_back(std::move(found));
  }

  /// Which lines of the function asked for memory in a run, ascending; adds what they saved.
  std::vector<std::uint32_t> lines_of(const CodeInstance& instance, RepeatedFunction& found) {
    std::vector<std::uint32_t> lines;
    for (std::uint32_t i = instance.first; i < instance.last; ++i) {
      const BlockLife& life = course_.life(course_.block_of(i));
      std::uint32_t& line = line_of_stack_[life.stack];
      if (line == kNoLine) line = line_of(life.stack, found.function);
      if (lines.empty() || lines.back() != line) lines.push_back(line);
      const bool kept = life.freed == BlockLife::kNever || course_.passes().outlives_forward(life);
      if (!kept) continue;
      found.saved_at[line] += life.size;
      found.layer.saved += life.size;
    }
    std::ranges::sort(lines);
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    return lines;
  }

  /// The outermost line of a stack in the function; there is one.
  std::uint32_t line_of(std::uint32_t stack, const OwnFunction& function) const {
    const std::vector<std::uint32_t>& frames = course_.recording().stacks[stack];
    for (auto number = frames.rbegin(); number != frames.rend(); ++number) {
      const Frame& frame = recording_.frames[*number];
      if (function.holds({frame.file, frame.line})) return frame.line;
    }
    return 0;
  }

  /// It loops over layers of one code, or calls such a layer and does nothing else: what it asks
  /// for outside of that is not part of every run.
  bool only_calls(const RepeatedFunction& one) const {
    return std::ranges::any_of(repeated_, [&](const RepeatedFunction& other) {
      if (&other == &one || other.layer.instances > one.layer.instances ||
          other.layer.instances + 1 < one.layer.instances) {
        return false;
      }
      std::vector<std::uint32_t> others = one.common;
      Bytes saved = 0;
      for (const FileLine& call : other.function.calls) {
        const auto at = one.saved_at.find(call.line);
        if (!one.function.holds(call) || at == one.saved_at.end()) continue;
        saved += at->second;
        std::erase(others, call.line);
      }
      return saved > 0 && others.empty() && other.layer.saved >= saved / 10 * 9;
    });
  }

  static const RepeatedFunction* holder(const std::vector<const RepeatedFunction*>& functions,
                                        const FileLine& call) {
    const auto found = std::ranges::find_if(
        functions, [&](const RepeatedFunction* one) { return one->function.holds(call); });
    return found == functions.end() ? nullptr : *found;
  }

  /// Where what only calls it is itself called by such a function, that call is meant.
  FileLine outermost(FileLine call, bool& directly) const {
    for (std::size_t i = 0; i < callers_.size(); ++i) {
      const RepeatedFunction* caller = holder(callers_, call);
      if (caller == nullptr || caller->function.calls.size() != 1) break;
      const FileLine above = *caller->function.calls.begin();
      if (holder(callers_, above) == nullptr) break;
      directly &= caller->function.called_directly;
      call = above;
    }
    return call;
  }

  LayerCode with_calls(const RepeatedFunction& one) const {
    LayerCode layer = one.layer;
    layer.called_directly = one.function.called_directly;
    std::set<FileLine> calls;
    for (const FileLine& call : one.function.calls)
      calls.insert(outermost(call, layer.called_directly));
    std::uint64_t once = 0;  // so many runs, were each of the lines to call it once
    for (const FileLine& call : calls) {
      layer.calls.push_back(fmt::format("{}:{}", label(call.file), call.line));
      const RepeatedFunction* in = holder(layers_, call);
      once += in == nullptr ? 1 : in->layer.instances;
    }
    layer.in_loop = layer.instances >= 2 * once;
    return layer;
  }

  const Recording& recording_;
  const ProgramCourse& course_;
  OwnFunctions own_;
  std::map<std::string, std::string> labels_;  ///< by tidy path
  std::vector<std::uint32_t> line_of_stack_;   ///< the outermost one in the function looked at
  std::vector<RepeatedFunction> repeated_;
  std::vector<const RepeatedFunction*> callers_;  ///< that only call a layer
  std::vector<const RepeatedFunction*> layers_;
};

}  // namespace

std::vector<LayerCode> layers_of(const Recording& recording, const Trace& trace) {
  const ProgramCourse course(recording, trace);
  Bytes saved = 0;
  for (const BlockLife& life : course.lives().blocks) {
    if (course.passes().is_saved(life)) saved += life.size;
  }
  std::vector<LayersOf> frames;
  const std::vector<FrameKind> kinds = frame_kinds(recording);
  for (std::size_t i = 0; i < kinds.size(); ++i)
    frames.push_back(owner_of(recording, recording.frames[i], kinds[i]));
  const auto of = [&](LayersOf whose) {
    return LayerFinder(recording, course, frames, whose).find();
  };
  // Else what is found is what the code before it gave.
  const auto has_code = [&](LayersOf whose) { return std::ranges::count(frames, whose) > 0; };
  std::vector<LayerCode> layers = of(LayersOf::program);
  const bool few = layers.empty() || layers.front().saved < saved / kPartsThatAreLayers;
  if (few && has_code(LayersOf::packages)) {
    std::vector<LayerCode> others = of(LayersOf::packages);
    const bool save_more =
        !others.empty() && (layers.empty() || others.front().saved > layers.front().saved);
    if (save_more) layers = std::move(others);
  }
  return layers.empty() && has_code(LayersOf::framework) ? of(LayersOf::framework) : layers;
}

}  // namespace memreplay
