#include "analysis/suggest/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/edit/code_instances.hpp"
#include "analysis/edit/edit.hpp"
#include "analysis/edit/program_course.hpp"
#include "analysis/recorded/path_labels.hpp"
#include "analysis/recorded/places.hpp"

namespace memreplay {
namespace {

/// A function, by the calls that reach it.
struct Activation {
  std::uint32_t file = 0;
  std::uint32_t name = 0;
  std::uint32_t first = UINT32_MAX;  ///< line
  std::uint32_t last = 0;
};

class CallTree {
 public:
  explicit CallTree(const Recording& recording) : recording_(recording) {}

  void add(const std::vector<std::uint32_t>& stack) {
    std::uint32_t at = 0;
    for (auto number = stack.rbegin(); number != stack.rend(); ++number) {
      const Frame& frame = recording_.frames[*number];
      const auto [node, fresh] = children_.try_emplace(std::tuple(at, frame.file, frame.name),
                                                       static_cast<std::uint32_t>(nodes_.size()));
      at = node->second;
      if (fresh) nodes_.push_back({frame.file, frame.name});
      if (is_noise(recording_, frame) || frame.line == kNoLine) continue;
      nodes_[at].first = std::min(nodes_[at].first, frame.line);
      nodes_[at].last = std::max(nodes_[at].last, frame.line);
    }
  }

  /// The program's own functions, but for those that make a model; those of one file whose lines
  /// overlap are one.
  std::vector<Activation> functions() const {
    std::vector<Activation> functions;
    for (const Activation& node : nodes_) {
      if (node.first > node.last || recording_.texts[node.name] == "__init__") continue;
      const auto same = std::ranges::find_if(functions, [&](const Activation& other) {
        return other.file == node.file && other.name == node.name && other.first <= node.last &&
               node.first <= other.last;
      });
      if (same == functions.end()) {
        functions.push_back(node);
      } else {
        same->first = std::min(same->first, node.first);
        same->last = std::max(same->last, node.last);
      }
    }
    return functions;
  }

 private:
  const Recording& recording_;
  std::vector<Activation> nodes_ = {{}};  ///< the root is none
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> children_;
};

}  // namespace

std::vector<LayerCode> layers_of(const Recording& recording, const Trace& trace) {
  const ProgramCourse course(recording, trace);
  std::set<std::uint32_t> stacks;
  for (std::size_t i = 0; i < course.allocations().size(); ++i) {
    if (!course.is_backward(i)) stacks.insert(course.life(course.block_of(i)).stack);
  }
  CallTree tree(recording);
  for (const std::uint32_t stack : stacks) tree.add(recording.stacks[stack]);

  std::set<std::string> paths;
  const auto path_of = [&](const Activation& function) {
    return tidy_path(recording.texts[function.file]);
  };
  for (const Activation& function : tree.functions()) paths.insert(path_of(function));
  const auto labels = path_labels(paths);
  std::vector<LayerCode> layers;
  for (const Activation& function : tree.functions()) {
    const std::string& file = labels.at(path_of(function));
    if (file.find_first_of(",&") != std::string::npos) continue;
    LayerCode layer{.selector = fmt::format("code={}:{}-{}", file, function.first, function.last)};
    std::uint32_t alike = 0;
    const Selector selector = parse_selector("--edit", layer.selector);
    std::map<std::uint32_t, std::uint32_t> of_length;  // in a step, by allocations
    for (const CodeInstance& instance :
         instances_of(recording, trace, course.allocations(), course.passes(), selector)) {
      if (layer.instances == 0) layer.begins = course.event_of(instance.first);
      if (instance.place == 0) of_length.clear();
      alike = std::max(alike, ++of_length[instance.last - instance.first]);
      layer.instances = std::max(layer.instances, instance.place + 1);
      for (std::uint32_t i = instance.first; i < instance.last; ++i) {
        const BlockLife& life = course.life(course.block_of(i));
        const bool kept = life.freed == BlockLife::kNever || course.passes().is_saved(life);
        if (kept) layer.saved += life.size;
      }
    }
    // Runs of one code are alike, for the most part; those of a whole step are not.
    const bool repeats = alike > 1 && alike * 2 >= layer.instances;
    if (repeats && layer.saved > 0) layers.push_back(std::move(layer));
  }
  // Of a call and what it calls for the most part alone the called one is the layer: a loop over
  // layers may have another call behind it.
  for (std::size_t i = layers.size(); i-- > 0;) {
    const auto inner = [&](const LayerCode& other) {
      return other.saved <= layers[i].saved && other.saved >= layers[i].saved / 10 * 9 &&
             other.instances <= layers[i].instances && other.instances + 1 >= layers[i].instances;
    };
    if (std::any_of(layers.begin() + static_cast<std::ptrdiff_t>(i) + 1, layers.end(), inner)) {
      layers.erase(layers.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  std::ranges::stable_sort(layers, std::ranges::greater(), &LayerCode::saved);
  return layers;
}

}  // namespace memreplay
