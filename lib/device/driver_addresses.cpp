#include "device/driver_addresses.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace memreplay {
namespace {

constexpr Bytes kUnit = 512;

Bytes in_units(Bytes size) { return round_up(std::max<Bytes>(size, 1), kUnit); }

constexpr Bytes kPiece = 32 * kMiB;
constexpr Bytes kStep = SharedPieces::kPiece;
constexpr Address kMirror = Address{1} << 63;

/// A set of ranges finds the lowest one; of these that is the one at the highest address.
AddressRange mirrored(Address from, Address to) { return {kMirror - to, kMirror - from}; }

}  // namespace

DriverAddresses::Runs::iterator DriverAddresses::run_at(Address address) {
  auto run = runs_.upper_bound(address);
  if (run == runs_.begin() || std::prev(run)->second.to <= address) return runs_.end();
  return std::prev(run);
}

void DriverAddresses::put_hole(const Run& run, AddressRange hole) {
  hole = {round_up(hole.from, kStep), hole.to / kStep * kStep};
  if (hole.from < hole.to) holes_.insert({hole.size(), -run.order, hole.from});
}

void DriverAddresses::drop_hole(const Run& run, AddressRange hole) {
  hole = {round_up(hole.from, kStep), hole.to / kStep * kStep};
  if (hole.from < hole.to) holes_.erase({hole.size(), -run.order, hole.from});
}

AddressRange DriverAddresses::hole_around(const Runs::value_type& run, Address address) const {
  const auto& ranges = run.second.ranges;
  const auto next = ranges.upper_bound(address);
  return {next == ranges.begin() ? run.first : std::prev(next)->second,
          next == ranges.end() ? run.second.to : next->first};
}

void DriverAddresses::take_range(Runs::value_type& run, Address from, Address to) {
  const AddressRange hole = hole_around(run, from);
  if (from < hole.from || to > hole.to) {
    throw std::logic_error("addresses claimed that are taken already");
  }
  drop_hole(run.second, hole);
  run.second.ranges.emplace(from, to);
  put_hole(run.second, {hole.from, from});
  put_hole(run.second, {to, hole.to});
}

std::optional<Address> DriverAddresses::take_run(Bytes size) {
  if (const auto hole = returned_.lowest(size + 1)) {
    returned_.erase({hole->from, hole->from + size});
    return kMirror - hole->from - size;
  }
  if (lowest_ < size + kPiece) return std::nullopt;  // address 0 is none
  return lowest_ -= size;
}

std::optional<Address> DriverAddresses::newest_hole(Bytes size) const {
  std::optional<Hole> newest;
  for (auto hole = holes_.lower_bound({size}); hole != holes_.end();
       hole = holes_.lower_bound({hole->size + 1})) {
    if (!newest || hole->order < newest->order) newest = *hole;
  }
  if (!newest) return std::nullopt;
  return newest->at;
}

void DriverAddresses::take_context() {
  for (const Bytes size : {8, 64, 30, 384}) take(size * kMiB);
}

Bytes DriverAddresses::charge(Bytes size) const {
  return size < kStep && shared_.has_room_for(size) ? 0 : round_up(size, kStep);
}

std::optional<Address> DriverAddresses::take(Bytes size) {
  if (size > kMirror / 2) return std::nullopt;
  if (size >= kStep) return take_steps(round_up(size, kStep));
  if (const auto at = shared_.take(size)) return at;
  const auto piece = take_steps(kStep);
  if (!piece) return std::nullopt;
  shared_.add(*piece);
  return shared_.take(size);
}

std::optional<Address> DriverAddresses::take_steps(Bytes steps) {
  if (const auto hole = newest_hole(steps)) {
    take_range(*run_at(*hole), *hole, *hole + steps);
    return *hole;
  }
  const Bytes pieces = round_up(steps, kPiece);
  const auto at = take_run(pieces);
  if (!at) return std::nullopt;
  const Address end = *at + pieces;
  Run& run = runs_[*at];
  run.to = end;
  run.order = ++newest_;
  run.ranges.emplace(*at, *at + steps);
  put_hole(run, {*at + steps, end});
  return at;
}

void DriverAddresses::claim(Address at, Bytes size) {
  const Address end = at + size;
  if (end <= at || end > kMirror) {
    throw std::logic_error("addresses claimed that no driver gives");
  }
  while (at < end) {
    auto run = run_at(at);
    if (run == runs_.end()) {
      const Address from = at / kPiece * kPiece;
      const auto next = runs_.upper_bound(at);
      const Address to =
          std::min(round_up(end, kPiece), next == runs_.end() ? kMirror : next->first);
      for (Address piece = from; piece < to; piece += kPiece) {
        returned_.erase(mirrored(piece, piece + kPiece));
      }
      lowest_ = std::min(lowest_, from);
      const auto order = -static_cast<std::int64_t>(from / kPiece);
      run = runs_.emplace(from, Run{.to = to, .order = order, .ranges = {}}).first;
      put_hole(run->second, {from, to});
    }
    const Address to = std::min(end, run->second.to);
    take_range(*run, at, to);
    if (to < end) continues_.emplace(at, to);
    at = to;
  }
}

void DriverAddresses::go_below(Address at) { lowest_ = std::min(lowest_, at / kPiece * kPiece); }

bool DriverAddresses::give_back(Address at) {
  if (shared_.holds(at)) {
    const auto piece = shared_.give_back(at);
    if (piece) give_back(*piece);
    return piece.has_value();
  }
  for (std::optional<Address> part = at; part;) {
    const auto run = run_at(*part);
    if (run == runs_.end() || !run->second.ranges.contains(*part)) {
      throw std::logic_error("addresses given back that were not taken");
    }
    const Address to = run->second.ranges.extract(*part).mapped();
    const AddressRange hole = hole_around(*run, *part);
    drop_hole(run->second, {hole.from, *part});
    drop_hole(run->second, {to, hole.to});
    if (run->second.ranges.empty()) {
      give_back_run(run);
    } else {
      put_hole(run->second, hole);
    }
    const auto next = continues_.extract(*part);
    part = next.empty() ? std::nullopt : std::optional(next.mapped());
  }
  return false;
}

void DriverAddresses::give_back_run(Runs::iterator run) {
  const AddressRange there = mirrored(run->first, run->second.to);
  const bool is_lowest = run->first == lowest_;
  runs_.erase(run);
  returned_.insert(there);
  if (!is_lowest) return;
  const AddressRange joined = *returned_.at(there.from);
  returned_.erase(joined);
  lowest_ = kMirror - joined.from;
}

void SharedPieces::put_hole(Address at, Bytes size) {
  const Hole hole{size, ++made_, at};
  holes_.emplace(at, hole);
  by_size_.insert(hole);
}

void SharedPieces::drop_hole(std::map<Address, Hole>::iterator hole) {
  by_size_.erase(hole->second);
  holes_.erase(hole);
}

void SharedPieces::add(Address piece) { put_hole(piece, kPiece); }

bool SharedPieces::has_room_for(Bytes size) const {
  return by_size_.lower_bound({.size = in_units(size)}) != by_size_.end();
}

std::optional<Address> SharedPieces::take(Bytes size) {
  const Bytes whole = in_units(size);
  const auto found = by_size_.lower_bound({.size = whole});
  if (found == by_size_.end()) return std::nullopt;
  const Hole hole = *found;
  drop_hole(holes_.find(hole.at));
  if (hole.size > whole) put_hole(hole.at + whole, hole.size - whole);
  taken_.emplace(hole.at, whole);
  return hole.at;
}

std::optional<Address> SharedPieces::give_back(Address at) {
  const auto in_one_piece = [](Address a, Address b) { return a / kPiece == b / kPiece; };
  Address from = at;
  Address to = at + taken_.extract(at).mapped();
  auto next = holes_.lower_bound(at);
  if (next != holes_.begin()) {
    const auto below = std::prev(next);
    if (below->first + below->second.size == at && in_one_piece(below->first, at)) {
      from = below->first;
      drop_hole(below);
    }
  }
  if (next != holes_.end() && next->first == to && in_one_piece(at, to)) {
    to += next->second.size;
    drop_hole(next);
  }
  if (to - from == kPiece) return from;
  put_hole(from, to - from);
  return std::nullopt;
}

}  // namespace memreplay
