#include "device/shared_pieces.hpp"

#include <algorithm>
#include <iterator>

namespace memreplay {
namespace {

constexpr Bytes kUnit = 512;

Bytes in_units(Bytes size) { return round_up(std::max<Bytes>(size, 1), kUnit); }

}  // namespace

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
