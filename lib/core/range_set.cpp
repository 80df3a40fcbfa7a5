#include "core/range_set.hpp"

#include <bit>
#include <iterator>
#include <stdexcept>

namespace memreplay {
namespace {

std::size_t log2_of(Bytes size) { return static_cast<std::size_t>(std::bit_width(size)) - 1; }

bool has_room(AddressRange range, Bytes size, Bytes alignment) {
  const Address start = round_up(range.from, alignment);
  return start >= range.from && start <= range.to && range.to - start >= size;
}

}  // namespace

void RangeSet::add(AddressRange range) {
  by_address_.emplace(range.from, range.to);
  by_size_.emplace(range.size(), range.from);
  by_log2_[log2_of(range.size())].insert(range.from);
  total_ += range.size();
}

void RangeSet::remove(std::map<Address, Address>::iterator place) {
  const AddressRange range{place->first, place->second};
  by_size_.erase({range.size(), range.from});
  by_log2_[log2_of(range.size())].erase(range.from);
  total_ -= range.size();
  by_address_.erase(place);
}

void RangeSet::insert(AddressRange range) {
  if (range.from >= range.to) throw std::logic_error("an empty range put into a set of ranges");
  if (const auto next = above(range.from); next && next->from < range.to) {
    throw std::logic_error("a range put into a set that holds part of it");
  }
  if (neighbours_ == Neighbours::join) {
    if (const auto next = by_address_.find(range.to); next != by_address_.end()) {
      range.to = next->second;
      remove(next);
    }
    const auto after = by_address_.lower_bound(range.from);
    if (after != by_address_.begin() && std::prev(after)->second == range.from) {
      range.from = std::prev(after)->first;
      remove(std::prev(after));
    }
  }
  add(range);
}

bool RangeSet::erase(AddressRange part) {
  const auto after = by_address_.upper_bound(part.from);
  if (after == by_address_.begin() || std::prev(after)->second < part.to) return false;
  const AddressRange whole{std::prev(after)->first, std::prev(after)->second};
  remove(std::prev(after));
  if (whole.from < part.from) add({whole.from, part.from});
  if (part.to < whole.to) add({part.to, whole.to});
  return true;
}

std::optional<AddressRange> RangeSet::at(Address byte) const {
  const auto range = above(byte);
  return range && range->from <= byte ? range : std::nullopt;
}

std::optional<AddressRange> RangeSet::above(Address address) const {
  auto place = by_address_.upper_bound(address);
  if (place != by_address_.begin() && std::prev(place)->second > address) --place;
  if (place == by_address_.end()) return std::nullopt;
  return AddressRange{place->first, place->second};
}

std::optional<AddressRange> RangeSet::lowest(Bytes size, Bytes alignment) const {
  if (size > largest()) return std::nullopt;
  std::optional<Address> found;
  for (std::size_t log2 = log2_of(size); log2 < by_log2_.size(); ++log2) {
    for (const Address from : by_log2_[log2]) {
      if (found && from > *found) break;
      if (has_room({from, by_address_.at(from)}, size, alignment)) {
        found = from;
        break;
      }
    }
  }
  if (!found) return std::nullopt;
  return AddressRange{*found, by_address_.at(*found)};
}

std::optional<AddressRange> RangeSet::smallest(Bytes size, Bytes alignment) const {
  for (auto place = by_size_.lower_bound({size, 0}); place != by_size_.end(); ++place) {
    const AddressRange range{place->second, place->second + place->first};
    if (has_room(range, size, alignment)) return range;
  }
  return std::nullopt;
}

}  // namespace memreplay
