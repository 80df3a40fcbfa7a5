#include "extensions/heaps/heaptrack_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace memreplay {

void HeaptrackPlaces::add_text(std::string_view text) {
  texts_.push_back(static_cast<std::uint32_t>(recording_.texts.size()));
  recording_.texts.emplace_back(text);
}

std::uint32_t HeaptrackPlaces::text(std::uint64_t number) const {
  if (number > texts_.size()) throw std::out_of_range("a text that no line before names");
  return number == 0 ? 0 : texts_[number - 1];
}

std::uint32_t HeaptrackPlaces::text_of_address(std::uint64_t address) {
  recording_.texts.push_back(fmt::format("{:#x}", address));
  return static_cast<std::uint32_t>(recording_.texts.size() - 1);
}

std::uint32_t HeaptrackPlaces::number_of(const Frame& frame) {
  const auto next = static_cast<std::uint32_t>(recording_.frames.size());
  const auto [known, is_new] = frames_.emplace(frame, next);
  if (is_new) recording_.frames.push_back(frame);
  return known->second;
}

void HeaptrackPlaces::add_instruction(std::uint64_t address, std::uint64_t module,
                                      std::span<const std::uint64_t> frames) {
  const std::uint32_t module_text = text(module);
  std::vector<std::uint32_t> numbers;
  for (; frames.size() >= 3; frames = frames.subspan(3)) {
    Frame frame{.name = text(frames[0]), .file = text(frames[1]), .line = kNoLine};
    if (frame.file == 0) {
      frame.file = module_text;
    } else if (frames[2] < kNoLine) {
      frame.line = static_cast<std::uint32_t>(frames[2]);
    }
    if (frame.name == 0) frame.name = text_of_address(address);
    numbers.push_back(number_of(frame));
  }
  if (numbers.empty()) {
    // A line may name the function alone.
    const std::uint32_t name = frames.empty() ? 0 : text(frames[0]);
    numbers.push_back(number_of({.name = name != 0 ? name : text_of_address(address),
                                 .file = module_text,
                                 .line = kNoLine}));
  }
  instructions_.push_back(std::move(numbers));
}

void HeaptrackPlaces::add(std::uint32_t instruction, std::uint64_t caller) {
  if (caller > calls_.size()) throw std::out_of_range("a caller that no line before names");
  calls_.push_back({instruction, static_cast<std::uint32_t>(caller)});
}

void HeaptrackPlaces::add_call(std::uint64_t instruction, std::uint64_t caller) {
  if (instruction == 0 || instruction > instructions_.size()) {
    throw std::out_of_range("an instruction that no line before names");
  }
  add(static_cast<std::uint32_t>(instruction - 1), caller);
}

void HeaptrackPlaces::add_raw_call(std::uint64_t address, std::uint64_t caller) {
  const auto next = static_cast<std::uint32_t>(instructions_.size());
  const auto [known, is_new] = raw_instructions_.emplace(address, next);
  if (is_new) add_instruction(address, 0, {});
  add(known->second, caller);
}

std::uint32_t HeaptrackPlaces::stack_of(std::uint64_t call) {
  constexpr std::size_t kMostFrames = 64;  // as deep as heaptrack itself looks
  if (call == 0) return 0;
  if (call > calls_.size()) throw std::out_of_range("a call that no line before names");
  Call& innermost = calls_[call - 1];
  if (innermost.stack != 0) return innermost.stack;
  std::vector<std::uint32_t> stack;
  for (std::uint64_t at = call; at != 0 && stack.size() < kMostFrames; at = calls_[at - 1].caller) {
    const auto& frames = instructions_[calls_[at - 1].instruction];
    stack.insert(stack.end(), frames.begin(), frames.end());
  }
  stack.resize(std::min(stack.size(), kMostFrames));
  innermost.stack = static_cast<std::uint32_t>(recording_.stacks.size());
  recording_.stacks.push_back(std::move(stack));
  return innermost.stack;
}

}  // namespace memreplay
