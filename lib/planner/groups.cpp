#include "planner/groups.hpp"

#include <algorithm>
#include <map>

#include "planner/layers.hpp"

namespace memreplay {
namespace {

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

}  // namespace memreplay
