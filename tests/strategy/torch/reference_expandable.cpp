#include <algorithm>
#include <cstdlib>

#include "strategy/torch/reference.hpp"

namespace memreplay::reference {
/// Length of a reservation: the device and an eighth, or less when the settings say so.
Bytes Allocator::reservation_size(bool small) const {
  const Bytes total = device_.total();
  Bytes length = total + total / 8;
  const std::string& reserve = settings_.expandable_segments_reserve;
  char* end = nullptr;
  const double number = std::strtod(reserve.c_str(), &end);
  const std::string_view unit = end;
  if (end != reserve.c_str() && number > 0 && (unit == "" || unit == "G")) {
    const double bytes = number * static_cast<double>(unit == "G" ? kGiB : total);
    if (bytes < static_cast<double>(length)) length = static_cast<Bytes>(bytes);
  }
  return round_up(length, granule(small));
}

std::optional<Allocator::Place> Allocator::try_allocate_expandable_block(const Wanted& wanted) {
  auto place = find_expandable_block(wanted);
  if (!place) place = reserve_expandable_segment(wanted);
  if (!place) return std::nullopt;
  int maps = 0;
  if (at(*place).state == Block::State::unmapped) {
    place = map_block(*place, std::min(at(*place).size, wanted.size));
    ++maps;
  }
  while (place && at(*place).size < wanted.size) {
    const Place next{place->segment, place->block + 1};
    place = map_block(next, std::min(wanted.size - at(*place).size, at(next).size));
    if (!place && maps > 0) ++met_["mapped in part"];
    ++maps;
  }
  if (maps > 1) ++met_["mapped in pieces"];
  return place;
}

/// The lowest run of blocks without an owner that is large enough and has a part to be mapped.
std::optional<Allocator::Place> Allocator::find_expandable_block(const Wanted& wanted) const {
  std::optional<Place> found;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const Segment& segment = segments_[i];
    if (segment.pool != wanted.pool || segment.small != wanted.small) continue;
    if (segment.stream != wanted.stream || !segment.expandable) continue;
    const auto& blocks = segment.blocks;
    const auto ownerless = [&](std::size_t block) {
      return blocks[block].state == Block::State::free ||
             blocks[block].state == Block::State::unmapped;
    };
    for (std::size_t unmapped = 0; unmapped < blocks.size(); ++unmapped) {
      if (blocks[unmapped].state != Block::State::unmapped) continue;
      const std::size_t first = unmapped > 0 && ownerless(unmapped - 1) ? unmapped - 1 : unmapped;
      Bytes size = 0;
      for (std::size_t b = first; b < blocks.size() && ownerless(b); ++b) size += blocks[b].size;
      if (size < wanted.size) continue;
      if (!found || blocks[first].address < at(*found).address) found = Place{i, first};
    }
  }
  return found;
}

std::optional<Allocator::Place> Allocator::reserve_expandable_segment(const Wanted& wanted) {
  const Bytes size = reservation_size(wanted.small);
  Segment made{.address = device_.reserve(size),
               .size = size,
               .stream = wanted.stream,
               .pool = wanted.pool,
               .small = wanted.small,
               .expandable = true,
               .number = ++segments_made_};
  if (size < wanted.size) {
    device_.release(made.address);
    ++met_["reservation too small"];
    return std::nullopt;
  }
  for (const Segment& other : segments_) {
    if (!other.expandable || other.pool != made.pool || other.small != made.small) continue;
    if (other.stream != made.stream) continue;
    ++met_["another reservation"];
    break;
  }
  made.blocks.push_back({.address = made.address,
                         .size = size,
                         .state = Block::State::unmapped,
                         .object_number = ++objects_made_});
  segments_.push_back(made);
  return Place{segments_.size() - 1, 0};
}

/// Maps the first `size` bytes, in whole granules. Where the block is then.
std::optional<Allocator::Place> Allocator::map_block(Place place, Bytes size) {
  Segment& segment = segments_[place.segment];
  size = round_up(size, granule(segment.small));
  if (!device_.map(size)) return std::nullopt;
  const Address address = at(place).address;
  if (at(place).size > size) {
    const Block rest{.address = address + size,
                     .size = at(place).size - size,
                     .state = Block::State::unmapped,
                     .object_number = ++objects_made_};
    segment.blocks.insert(segment.blocks.begin() + static_cast<std::ptrdiff_t>(place.block) + 1,
                          rest);
    at(place).size = size;
  }
  at(place).state = Block::State::free;
  try_merge(place, true);
  try_merge(place, false);
  at(place).searches_before = searches(segment);
  log(Op::segment_map, address, size);
  change_reserved(segment, static_cast<std::int64_t>(size));
  ++num_device_alloc_;
  return place;
}

/// Takes the memory away from the granules that are wholly inside the block.
void Allocator::unmap_block(Place place) {
  Segment& segment = segments_[place.segment];
  const Bytes unit = granule(segment.small);
  const Address block_from = at(place).address;
  const Address block_to = block_from + at(place).size;
  const Address from = segment.address + round_up(block_from - segment.address, unit);
  const Address to = segment.address + (block_to - segment.address) / unit * unit;
  if (from >= to) return;
  const std::uint64_t object_number = at(place).object_number;
  segment.blocks.erase(segment.blocks.begin() + static_cast<std::ptrdiff_t>(place.block));
  const auto put = [&](Address part_from, Address part_to, Block::State state) {
    segment.blocks.insert(segment.blocks.begin() + static_cast<std::ptrdiff_t>(place.block),
                          {.address = part_from,
                           .size = part_to - part_from,
                           .state = state,
                           .object_number = object_number,
                           .searches_before = searches(segment)});
  };
  if (to < block_to) put(to, block_to, Block::State::free);
  put(from, to, Block::State::unmapped);
  if (block_from < from) {
    put(block_from, from, Block::State::free);
    at(place).object_number = ++objects_made_;
    ++met_["head left mapped"];
    ++place.block;
  }
  if (to < block_to) {
    at({place.segment, place.block + 1}).object_number = ++objects_made_;
    ++met_["tail left mapped"];
  }
  try_merge(place, true);
  try_merge(place, false);
  device_.unmap(to - from);
  log(Op::segment_unmap, from, to - from);
  ++num_device_free_;
  change_reserved(segment, -static_cast<std::int64_t>(to - from));
  if (segment.blocks.size() > 1) return;
  device_.release(segment.address);
  segments_.erase(segments_.begin() + static_cast<std::ptrdiff_t>(place.segment));
  ++met_["reservation given back"];
}

}  // namespace memreplay::reference
