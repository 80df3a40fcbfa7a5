#include "strategy/parts/first_fit.hpp"

#include <algorithm>
#include <utility>

namespace memreplay {
namespace {

std::uint32_t rank_in(const auto& leaf, Address address) {
  std::uint32_t rank = 0;
  for (std::uint32_t i = 0; i < leaf.count; ++i) rank += leaf.addresses[i] < address;
  return rank;
}

auto place(auto& values, std::size_t at) {
  return values.begin() + static_cast<std::ptrdiff_t>(at);
}

}  // namespace

std::size_t FirstFit::leaf_of(Address address) const {
  const auto after = std::upper_bound(first_.begin(), first_.end(), address);
  return after == first_.begin() ? 0 : static_cast<std::size_t>(after - first_.begin()) - 1;
}

void FirstFit::add_leaf(std::size_t at, const Leaf& leaf) {
  auto number = static_cast<std::uint32_t>(leaves_.size());
  if (unused_.empty()) {
    leaves_.push_back(leaf);
  } else {
    number = unused_.back();
    unused_.pop_back();
    leaves_[number] = leaf;
  }
  order_.insert(place(order_, at), number);
  first_.insert(place(first_, at), 0);
  largest_.insert(place(largest_, at), 0);
}

void FirstFit::remove_leaf(std::size_t at) {
  unused_.push_back(order_[at]);
  order_.erase(place(order_, at));
  first_.erase(place(first_, at));
  largest_.erase(place(largest_, at));
  regroup(at);
}

// The leaf has changed.
void FirstFit::note(std::size_t at) {
  const Leaf& leaf = leaves_[order_[at]];
  first_[at] = leaf.addresses[0];
  Bytes largest = 0;
  for (std::uint32_t i = 0; i < leaf.count; ++i) largest = std::max(largest, leaf.sizes[i]);
  const Bytes before = std::exchange(largest_[at], largest);
  Bytes& of_group = largest_of_group_[at / kGroup];
  if (largest >= of_group) {
    of_group = largest;
  } else if (before == of_group) {
    const std::size_t from = at / kGroup * kGroup;
    const std::size_t to = std::min(from + kGroup, largest_.size());
    of_group = *std::max_element(place(largest_, from), place(largest_, to));
  }
}

void FirstFit::regroup(std::size_t from) {
  largest_of_group_.resize((largest_.size() + kGroup - 1) / kGroup);
  for (std::size_t group = from / kGroup; group < largest_of_group_.size(); ++group) {
    const std::size_t to = std::min((group + 1) * kGroup, largest_.size());
    largest_of_group_[group] =
        *std::max_element(place(largest_, group * kGroup), place(largest_, to));
  }
}

void FirstFit::insert(Address address, Bytes size, Handle block) {
  if (order_.empty()) {
    add_leaf(0, {});
    regroup(0);
  }
  std::size_t at = leaf_of(address);
  if (leaves_[order_[at]].count == kLeaf) {
    // The upper half moves to a leaf of its own.
    constexpr std::uint32_t kHalf = kLeaf / 2;
    Leaf upper;
    Leaf& full = leaves_[order_[at]];
    upper.count = kLeaf - kHalf;
    std::copy(full.addresses.begin() + kHalf, full.addresses.end(), upper.addresses.begin());
    std::copy(full.sizes.begin() + kHalf, full.sizes.end(), upper.sizes.begin());
    std::copy(full.blocks.begin() + kHalf, full.blocks.end(), upper.blocks.begin());
    full.count = kHalf;
    add_leaf(at + 1, upper);
    regroup(at);
    note(at);
    note(at + 1);
    if (address > upper.addresses[0]) ++at;
  }
  Leaf& leaf = leaves_[order_[at]];
  const std::uint32_t rank = rank_in(leaf, address);
  for (std::uint32_t i = leaf.count++; i > rank; --i) {
    leaf.addresses[i] = leaf.addresses[i - 1];
    leaf.sizes[i] = leaf.sizes[i - 1];
    leaf.blocks[i] = leaf.blocks[i - 1];
  }
  leaf.addresses[rank] = address;
  leaf.sizes[rank] = size;
  leaf.blocks[rank] = block;
  note(at);
}

void FirstFit::erase(Address address) {
  const std::size_t at = leaf_of(address);
  Leaf& leaf = leaves_[order_[at]];
  --leaf.count;
  for (std::uint32_t i = rank_in(leaf, address); i < leaf.count; ++i) {
    leaf.addresses[i] = leaf.addresses[i + 1];
    leaf.sizes[i] = leaf.sizes[i + 1];
    leaf.blocks[i] = leaf.blocks[i + 1];
  }
  if (leaf.count == 0) return remove_leaf(at);
  note(at);
  if (leaf.count > kLeaf / 4 || at + 1 == order_.size()) return;
  // Together with the next one it fills half a leaf at most.
  const Leaf& next = leaves_[order_[at + 1]];
  if (leaf.count + next.count > kLeaf / 2) return;
  std::copy_n(next.addresses.begin(), next.count, leaf.addresses.begin() + leaf.count);
  std::copy_n(next.sizes.begin(), next.count, leaf.sizes.begin() + leaf.count);
  std::copy_n(next.blocks.begin(), next.count, leaf.blocks.begin() + leaf.count);
  leaf.count += next.count;
  remove_leaf(at + 1);
  note(at);
}

void FirstFit::replace(Address old, Address address, Bytes size, Handle block) {
  const std::size_t at = leaf_of(old);
  Leaf& leaf = leaves_[order_[at]];
  const std::uint32_t rank = rank_in(leaf, old);
  leaf.addresses[rank] = address;
  leaf.sizes[rank] = size;
  leaf.blocks[rank] = block;
  note(at);
}

Handle FirstFit::lowest(const Wanted& wanted, Address from) const {
  for (std::size_t group = 0; group < largest_of_group_.size(); ++group) {
    if (largest_of_group_[group] < wanted.size) continue;
    const std::size_t to = std::min((group + 1) * kGroup, largest_.size());
    for (std::size_t at = group * kGroup; at < to; ++at) {
      if (largest_[at] < wanted.size) continue;
      const Leaf& leaf = leaves_[order_[at]];
      for (std::uint32_t i = 0; i < leaf.count; ++i) {
        if (leaf.addresses[i] < from) continue;
        if (wanted.fits(leaf.addresses[i], leaf.sizes[i])) return leaf.blocks[i];
      }
    }
  }
  return kNoHandle;
}

Bytes FirstFit::largest() const {
  Bytes largest = 0;
  for (const Bytes of_group : largest_of_group_) largest = std::max(largest, of_group);
  return largest;
}

}  // namespace memreplay
