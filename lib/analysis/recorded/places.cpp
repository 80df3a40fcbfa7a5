#include "analysis/recorded/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace memreplay {
namespace {

bool is_python(std::string_view file) { return file.ends_with(".py"); }

// Frames that serve any program: PyTorch's own, other installed packages' and the interpreter's.
bool is_library(std::string_view file) {
  constexpr std::array<std::string_view, 5> kMarks = {"/site-packages/", "/dist-packages/",
                                                      "/lib/python3", "/torch/_", "<frozen"};
  return std::ranges::any_of(
      kMarks, [&](std::string_view mark) { return file.find(mark) != std::string_view::npos; });
}

constexpr std::string_view kBackward = "torch::autograd::generated::";

// What every stack of C++ frames begins with, and what says nothing of the caller.
bool is_plumbing(std::string_view name) {
  constexpr std::array<std::string_view, 9> kMarks = {
      "torch::unwind", "CapturedTraceback", "gather_with_cpp", "CachingAllocator", "empty_generic",
      "StorageImpl",   "TensorImpl",        "c10::",           "empty_strided_"};
  return name.empty() || name == "??" || std::ranges::any_of(kMarks, [&](std::string_view mark) {
           return name.find(mark) != std::string_view::npos;
         });
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.find_last_of("/\\") + 1);  // npos + 1 is 0
}

// "at::_ops::mul::call(…)" without its arguments.
std::string_view without_arguments(std::string_view name) {
  return name.substr(0, name.find('(', name.starts_with("(") ? 1 : 0));
}

class Namer {
 public:
  explicit Namer(const Recording& recording) : recording_(recording) {}

  std::string name(const std::vector<std::uint32_t>& stack) const {
    if (stack.empty()) return "(no stack recorded)";
    const Frame* python = nullptr;
    const Frame* backward = nullptr;
    const Frame* native = nullptr;
    for (const std::uint32_t number : stack) {
      const Frame& frame = recording_.frames[number];
      const std::string_view file = text(frame.file);
      const std::string_view what = text(frame.name);
      if (is_python(file)) {
        if (!is_library(file)) return place(frame);
        if (python == nullptr) python = &frame;
      } else if (backward == nullptr && what.starts_with(kBackward)) {
        backward = &frame;
      } else if (native == nullptr && !is_plumbing(what)) {
        native = &frame;
      }
    }
    if (python != nullptr) return place(*python);
    if (backward != nullptr) {
      return std::string(without_arguments(text(backward->name).substr(kBackward.size())));
    }
    if (native == nullptr) native = &recording_.frames[stack.front()];
    return std::string(without_arguments(text(native->name)));
  }

 private:
  std::string_view text(std::uint32_t number) const { return recording_.texts[number]; }
  std::string place(const Frame& frame) const {
    return fmt::format("{}:{} {}", base_name(text(frame.file)), frame.line, text(frame.name));
  }

  const Recording& recording_;
};

}  // namespace

bool is_noise(const Recording& recording, const Frame& frame) {
  const std::string& file = recording.texts[frame.file];
  return !is_python(file) || is_library(file);
}

Places::Places(const Recording& recording) {
  const Namer namer(recording);
  std::map<std::string, std::uint32_t> numbers;
  const auto number_of = [&](const std::string& name) {
    const auto [it, fresh] = numbers.emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (fresh) names_.push_back(name);
    return it->second;
  };
  number_of(namer.name({}));
  for (const auto& stack : recording.stacks)
    place_of_stack_.push_back(number_of(namer.name(stack)));
  if (place_of_stack_.empty()) place_of_stack_.push_back(0);
}

}  // namespace memreplay
