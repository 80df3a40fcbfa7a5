#include "cuda/physical_memory.hpp"

namespace memreplay::capture {

PhysicalMemory::Piece PhysicalMemory::create(std::uint64_t handle) {
  pieces_[handle] = next_;
  states_[next_] = {};
  return next_++;
}

void PhysicalMemory::map(Address from, std::uint64_t handle) {
  const auto piece = pieces_.find(handle);
  if (piece == pieces_.end()) return;
  if (mappings_.emplace(from, piece->second).second) ++states_[piece->second].mappings;
}

std::optional<PhysicalMemory::Piece> PhysicalMemory::release(std::uint64_t handle) {
  const auto known = pieces_.find(handle);
  if (known == pieces_.end()) return std::nullopt;
  const Piece piece = known->second;
  pieces_.erase(known);
  states_[piece].is_released = true;
  return ends(piece) ? std::optional(piece) : std::nullopt;
}

std::vector<PhysicalMemory::Piece> PhysicalMemory::unmap(Address from, Bytes size) {
  std::vector<Piece> ended;
  for (auto at = mappings_.lower_bound(from); at != mappings_.end() && at->first - from < size;) {
    const Piece piece = at->second;
    at = mappings_.erase(at);
    --states_[piece].mappings;
    if (ends(piece)) ended.push_back(piece);
  }
  return ended;
}

bool PhysicalMemory::ends(Piece piece) {
  const State& state = states_[piece];
  const bool is_over = state.is_released && state.mappings == 0;
  if (is_over) states_.erase(piece);
  return is_over;
}

}  // namespace memreplay::capture
