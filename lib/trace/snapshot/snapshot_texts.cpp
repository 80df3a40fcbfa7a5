#include "trace/snapshot/snapshot_texts.hpp"

#include <algorithm>
#include <utility>

#include "core/text.hpp"

namespace memreplay {
namespace {

constexpr std::uint32_t kUnused = UINT32_MAX;

std::uint64_t hash_of(std::span<const std::uint32_t> frames) {
  // A sum of terms that do not wait for each other: long stacks are most of a large snapshot.
  std::uint64_t hash = frames.size();
  std::uint64_t place = 0;
  for (const std::uint32_t frame : frames) {
    place += 0x9E3779B97F4A7C15;
    const std::uint64_t term = (frame + place) * 0xD6E8FEB86659FD93;
    hash += term ^ (term >> 32);
  }
  return hash ^ (hash >> 29);
}

/// Gives numbers in the order of first use.
class Renumbering {
 public:
  explicit Renumbering(std::size_t count) : numbers_(count, kUnused) {}

  std::uint32_t operator()(std::uint32_t old) {
    if (numbers_[old] == kUnused) {
      numbers_[old] = static_cast<std::uint32_t>(order_.size());
      order_.push_back(old);
    }
    return numbers_[old];
  }
  const std::vector<std::uint32_t>& order() const { return order_; }

 private:
  std::vector<std::uint32_t> numbers_;
  std::vector<std::uint32_t> order_;
};

}  // namespace

SnapshotTexts::SnapshotTexts() : stack_slots_(1024) {
  text({});
  stack({});
}

std::uint32_t SnapshotTexts::text(std::string_view text) {
  const auto known = text_numbers_.find(text);
  if (known != text_numbers_.end()) return known->second;
  std::string valid = as_utf8(text);
  if (valid != text) return this->text(valid);
  const auto number = static_cast<std::uint32_t>(texts_.size());
  texts_.push_back(std::move(valid));
  text_numbers_.emplace(texts_.back(), number);
  return number;
}

std::uint32_t SnapshotTexts::frame(std::string_view name, std::string_view file,
                                   std::uint32_t line) {
  const Frame frame{text(name), text(file), line};
  const auto [place, added] =
      frame_numbers_.try_emplace(frame, static_cast<std::uint32_t>(frames_.size()));
  if (added) frames_.push_back(frame);
  return place->second;
}

std::uint32_t SnapshotTexts::stack(std::span<const std::uint32_t> frames) {
  const std::uint64_t hash = hash_of(frames);
  const std::size_t mask = stack_slots_.size() - 1;
  std::size_t slot = hash & mask;
  for (; stack_slots_[slot] != 0; slot = (slot + 1) & mask) {
    const std::uint32_t number = stack_slots_[slot] - 1;
    if (stacks_[number].hash == hash && std::ranges::equal(frames_of(number), frames)) {
      return number;
    }
  }
  const auto number = static_cast<std::uint32_t>(stacks_.size());
  stacks_.push_back({stack_frames_.size(), frames.size(), hash});
  stack_frames_.insert(stack_frames_.end(), frames.begin(), frames.end());
  stack_slots_[slot] = number + 1;
  if (stacks_.size() * 2 > stack_slots_.size()) grow_stack_slots();
  return number;
}

void SnapshotTexts::grow_stack_slots() {
  stack_slots_.assign(stack_slots_.size() * 4, 0);
  const std::size_t mask = stack_slots_.size() - 1;
  for (std::uint32_t number = 0; number < stacks_.size(); ++number) {
    std::size_t slot = stacks_[number].hash & mask;
    while (stack_slots_[slot] != 0) slot = (slot + 1) & mask;
    stack_slots_[slot] = number + 1;
  }
}

std::span<const std::uint32_t> SnapshotTexts::frames_of(std::uint32_t stack) const {
  return std::span(stack_frames_).subspan(stacks_[stack].begin, stacks_[stack].count);
}

std::uint32_t SnapshotTexts::pool(PoolId id) {
  const auto [place, added] =
      pool_numbers_.try_emplace(id, static_cast<std::uint32_t>(pools_.size()));
  if (added) pools_.push_back(id);
  return place->second;
}

void SnapshotTexts::finish(TorchSnapshot& snapshot) {
  Renumbering texts(texts_.size()), frames(frames_.size()), stacks(stacks_.size());
  Renumbering pools(pools_.size());
  texts(0);
  stacks(0);
  for (TorchSegment& segment : snapshot.segments) {
    if (segment.pool != kUnknownPool) segment.pool = pools(segment.pool);
    for (TorchBlock& block : segment.blocks) block.stack = stacks(block.stack);
  }
  for (auto& trace : snapshot.device_traces) {
    for (TorchEntry& entry : trace) {
      if (entry.pool != kUnknownPool) entry.pool = pools(entry.pool);
      entry.stack = stacks(entry.stack);
      entry.tag = texts(entry.tag);
    }
  }
  for (Annotation& annotation : snapshot.annotations) annotation.text = texts(annotation.text);

  for (const std::uint32_t old : stacks.order()) {
    auto& stack = snapshot.stacks.emplace_back();
    stack.reserve(stacks_[old].count);
    for (const std::uint32_t frame : frames_of(old)) stack.push_back(frames(frame));
  }
  for (const std::uint32_t old : frames.order()) {
    const Frame& frame = frames_[old];
    const std::uint32_t name = texts(frame.name);
    snapshot.frames.push_back({name, texts(frame.file), frame.line});
  }
  for (const std::uint32_t old : texts.order()) snapshot.texts.push_back(std::move(texts_[old]));
  for (const std::uint32_t old : pools.order()) snapshot.pools.push_back(pools_[old]);
  text_numbers_.clear();
}

}  // namespace memreplay
