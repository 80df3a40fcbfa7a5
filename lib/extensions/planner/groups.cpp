#include "extensions/planner/groups.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace memreplay {
namespace {

/// After so many orders of a class that make no difference the search ends.
constexpr int kEqualResults = 5;

/// The height that blocks have reached, over time: a step function.
class Profile {
 public:
  Bytes highest(std::uint64_t from, std::uint64_t to) const {
    Bytes height = 0;
    for (auto step = at(from); step != steps_.end() && step->time < to; ++step) {
      height = std::max(height, step->height);
    }
    return height;
  }
  void raise(std::uint64_t from, std::uint64_t to, Bytes height) {
    cut(from);
    cut(to);
    const auto first = at(from);
    const auto last = at(to);
    first->height = height;
    steps_.erase(first + 1, last);
  }

 private:
  struct Step {
    std::uint64_t time = 0;
    Bytes height = 0;
  };
  using Steps = std::vector<Step>;

  template <typename Self>
  static auto find(Self& steps, std::uint64_t time) {
    return std::upper_bound(steps.begin(), steps.end(), time,
                            [](std::uint64_t t, const Step& step) { return t < step.time; }) -
           1;
  }
  Steps::iterator at(std::uint64_t time) { return find(steps_, time); }
  Steps::const_iterator at(std::uint64_t time) const { return find(steps_, time); }
  void cut(std::uint64_t time) {
    const auto step = at(time);
    if (step->time != time) steps_.insert(step + 1, {time, step->height});
  }

  Steps steps_ = {{0, 0}};
};

struct Layer {
  Bytes base = 0;
  Bytes height = 0;
  Profile profile;
};

/// Blocks of one size, placed in one order.
struct TriedPlacement {
  std::vector<Layer> layers;
  std::vector<std::pair<std::uint32_t, Bytes>> offsets;  ///< row, offset
  std::vector<std::uint32_t> unplaced;                   ///< in no earlier layer
  Bytes top = 0;
};

class LayeredFit {
 public:
  explicit LayeredFit(std::span<const PlannedBlock> blocks)
      : blocks_(blocks), offsets_(blocks.size()) {}

  Packing run() {
    std::map<std::pair<Bytes, Bytes>, std::vector<std::uint32_t>> classes;
    for (std::uint32_t row = 0; row < blocks_.size(); ++row) {
      classes[{~blocks_[row].size, ~blocks_[row].alignment}].push_back(row);
    }
    for (auto& [key, rows] : classes) place_class(rows);
    return packing_of(blocks_, offsets_);
  }

 private:
  void place_class(std::vector<std::uint32_t> rows) {
    std::sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
      return blocks_[a].start != blocks_[b].start ? blocks_[a].start < blocks_[b].start : a < b;
    });
    TriedPlacement best = place(rows);
    Bytes last = best.top;
    std::vector<std::uint32_t> unplaced = best.unplaced;
    for (int equal = 0;
         !unplaced.empty() && unplaced.size() < rows.size() && equal < kEqualResults;) {
      std::stable_partition(rows.begin(), rows.end(), [&](std::uint32_t row) {
        return std::find(unplaced.begin(), unplaced.end(), row) != unplaced.end();
      });
      TriedPlacement next = place(rows);
      if (next.top > last) break;
      equal = next.top == last ? equal + 1 : 0;
      last = next.top;
      unplaced = next.unplaced;
      if (next.top < best.top) best = std::move(next);
    }
    layers_ = std::move(best.layers);
    for (const auto& [row, offset] : best.offsets) offsets_[row] = offset;
    top_ = best.top;
  }

  TriedPlacement place(const std::vector<std::uint32_t>& rows) const {
    TriedPlacement trial{layers_, {}, {}, top_};
    for (const std::uint32_t row : rows) {
      if (!place_in_layers(row, trial)) trial.unplaced.push_back(row);
    }
    colour(trial);
    return trial;
  }

  bool place_in_layers(std::uint32_t row, TriedPlacement& trial) const {
    const PlannedBlock& block = blocks_[row];
    for (Layer& layer : trial.layers) {
      if (layer.height < block.size) continue;
      const Bytes used = layer.profile.highest(block.start, block.end);
      const Bytes at = round_up(layer.base + used, block.alignment);
      if (at + block.size > layer.base + layer.height) continue;
      layer.profile.raise(block.start, block.end, at + block.size - layer.base);
      trial.offsets.emplace_back(row, at);
      return true;
    }
    return false;
  }

  /// New layers, one block high: each takes the block whose predecessor there ended last.
  void colour(TriedPlacement& trial) const {
    std::vector<std::uint32_t> rows = trial.unplaced;
    std::sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
      return blocks_[a].start != blocks_[b].start ? blocks_[a].start < blocks_[b].start : a < b;
    });
    std::multimap<std::uint64_t, std::size_t> open;  // last end -> layer
    for (const std::uint32_t row : rows) {
      const PlannedBlock& block = blocks_[row];
      const auto after = open.upper_bound(block.start);
      std::size_t index = trial.layers.size();
      if (after == open.begin()) {
        const Bytes base = round_up(trial.top, block.alignment);
        trial.layers.push_back({base, block.size, {}});
        trial.top = base + block.size;
      } else {
        index = std::prev(after)->second;
        open.erase(std::prev(after));
      }
      open.emplace(block.end, index);
      trial.layers[index].profile.raise(block.start, block.end, block.size);
      trial.offsets.emplace_back(row, trial.layers[index].base);
    }
  }

  std::span<const PlannedBlock> blocks_;
  std::vector<Bytes> offsets_;
  std::vector<Layer> layers_;
  Bytes top_ = 0;
};

/// A group that fills less of its box is no box.
constexpr double kLeastFill = 0.7;
/// Pairs of boxes that are packed together on trial.
constexpr int kMostTrials = 500;

/// Blocks that are placed as one.
struct GroupBox {
  std::vector<std::uint32_t> rows;
  PlannedBlock block;
  std::vector<Bytes> offsets;  ///< in the box, by row
  double fill = 0;             ///< the part of its time and bytes that is in use

  /// Neither lives within the life of the other.
  bool partly_overlaps(const GroupBox& later) const {
    return block.start < later.block.start && later.block.start < block.end &&
           block.end < later.block.end;
  }
};

class GroupFit {
 public:
  GroupFit(std::span<const PlannedBlock> blocks, std::span<const std::uint64_t> phases)
      : blocks_(blocks), phases_(phases) {}

  Packing run() {
    make_boxes();
    fuse();
    return place();
  }

 private:
  std::size_t phase_at(std::uint64_t time) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(phases_, time) - phases_.begin());
  }

  void make_boxes() {
    std::map<std::pair<std::size_t, std::size_t>, std::vector<std::uint32_t>> groups;
    for (std::uint32_t row = 0; row < blocks_.size(); ++row) {
      groups[{phase_at(blocks_[row].start), phase_at(blocks_[row].end - 1)}].push_back(row);
    }
    for (auto& [phases, rows] : groups) {
      GroupBox box = boxed(std::move(rows));
      if (box.rows.size() > 1 && box.fill >= kLeastFill) {
        boxes_.push_back(std::move(box));
      } else {
        single_.insert(single_.end(), box.rows.begin(), box.rows.end());
      }
    }
    std::ranges::sort(single_);
    std::ranges::stable_sort(boxes_, {}, [](const GroupBox& box) { return box.block.start; });
  }

  GroupBox boxed(std::vector<std::uint32_t> rows) const {
    GroupBox box{.rows = std::move(rows), .block = {}, .offsets = {}};
    box.block = blocks_[box.rows.front()];
    std::vector<PlannedBlock> members;
    double filled = 0;
    for (const std::uint32_t row : box.rows) {
      const PlannedBlock& block = members.emplace_back(blocks_[row]);
      box.block.start = std::min(box.block.start, block.start);
      box.block.end = std::max(box.block.end, block.end);
      box.block.alignment = std::max(box.block.alignment, block.alignment);
      filled += static_cast<double>(block.size) * static_cast<double>(block.length());
    }
    Packing packing = layered_fit(members);
    box.block.size = packing.height;
    box.offsets = std::move(packing.offsets);
    box.fill =
        filled / (static_cast<double>(packing.height) * static_cast<double>(box.block.length()));
    return box;
  }

  /// Two boxes become one where that makes the product of all fills larger.
  void fuse() {
    int trials = 0;
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      for (std::size_t j = i + 1; j < boxes_.size() && trials < kMostTrials;) {
        if (!boxes_[i].partly_overlaps(boxes_[j])) {
          ++j;
          continue;
        }
        ++trials;
        std::vector<std::uint32_t> rows = boxes_[i].rows;
        rows.insert(rows.end(), boxes_[j].rows.begin(), boxes_[j].rows.end());
        GroupBox both = boxed(std::move(rows));
        if (both.fill <= boxes_[i].fill * boxes_[j].fill) {
          ++j;
          continue;
        }
        boxes_[i] = std::move(both);
        boxes_.erase(boxes_.begin() + static_cast<std::ptrdiff_t>(j));
        j = i + 1;
      }
    }
  }

  Packing place() const {
    std::vector<PlannedBlock> all;
    for (const GroupBox& box : boxes_) all.push_back(box.block);
    for (const std::uint32_t row : single_) all.push_back(blocks_[row]);
    const Packing packing = layered_fit(all);
    std::vector<Bytes> offsets(blocks_.size());
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      for (std::size_t member = 0; member < boxes_[i].rows.size(); ++member) {
        offsets[boxes_[i].rows[member]] = packing.offsets[i] + boxes_[i].offsets[member];
      }
    }
    for (std::size_t i = 0; i < single_.size(); ++i) {
      offsets[single_[i]] = packing.offsets[boxes_.size() + i];
    }
    return packing_of(blocks_, std::move(offsets));
  }

  std::span<const PlannedBlock> blocks_;
  std::span<const std::uint64_t> phases_;
  std::vector<GroupBox> boxes_;  ///< by start
  std::vector<std::uint32_t> single_;
};

}  // namespace

Packing group_fit(std::span<const PlannedBlock> blocks, std::span<const std::uint64_t> phases) {
  return GroupFit(blocks, phases).run();
}

Packing layered_fit(std::span<const PlannedBlock> blocks) { return LayeredFit(blocks).run(); }

}  // namespace memreplay
