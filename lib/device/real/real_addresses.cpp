// Where a RealDevice's addresses really lie.
#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "device/real/real_device.hpp"

namespace memreplay {
namespace {

/// Addresses for mapped regions are reserved for so many times the memory of the device.
constexpr Bytes kWindow = 16;

}  // namespace

const RealDevice::Ranges::value_type* RealDevice::reservation_of(Address at) const {
  for (const Ranges* ranges : {&reservations_, &windows_}) {
    const auto after = ranges->upper_bound(at);
    if (after == ranges->begin()) continue;
    const auto& reservation = *std::prev(after);
    if (at - reservation.first < reservation.second.size) return &reservation;
  }
  return nullptr;
}

void RealDevice::release_window(Ranges::iterator window) {
  const auto& [from, real] = *window;
  const auto next = std::next(window);
  const auto piece = pieces_.lower_bound(from);
  const bool is_used = piece != pieces_.end() && piece->first - from < real.size &&
                       (next == windows_.end() || piece->first < next->first);
  if (is_used) full();
  memory_.release(real.address, real.size);
  windows_.erase(window);
}

// Mapped regions lie side by side in one long window, as does a range that was reserved before the
// recording. Where there was no room for it, a short one is replaced when nothing is mapped there.
void RealDevice::ensure_reserved(Address at, Bytes size) {
  for (auto cut = windows_.upper_bound(at); cut != windows_.end() && cut->first - at < size;) {
    release_window(cut++);
  }
  const auto* found = reservation_of(at);
  if (found != nullptr && at - found->first + size <= found->second.size) return;
  if (const auto same = windows_.find(at); same != windows_.end()) release_window(same);
  const Bytes granularity = memory_.facts().granularity;
  for (const Bytes wanted : {kWindow * memory_.facts().total, size}) {
    const Bytes whole = round_up(std::max(wanted, size), granularity);
    if (const auto real = memory_.reserve(whole)) {
      windows_.emplace(at, RealRange{*real, whole});
      return;
    }
  }
  full();
}

Address RealDevice::real_address(Address at) const {
  const auto* reservation = reservation_of(at);
  if (reservation == nullptr) throw std::logic_error("mapping outside of what is reserved");
  return reservation->second.address + (at - reservation->first);
}

// The real memory at the address, from there to the end of its region or piece.
std::optional<RealRange> RealDevice::behind(Address at) const {
  const auto holder = [at](const auto& map) {
    const auto after = map.upper_bound(at);
    if (after == map.begin() || at - std::prev(after)->first >= std::prev(after)->second.size) {
      return map.end();
    }
    return std::prev(after);
  };
  if (const auto region = holder(regions_); region != regions_.end()) {
    const Bytes offset = at - region->first;
    return RealRange{region->second.address + offset, region->second.size - offset};
  }
  for (const auto* pieces : {&pieces_, &alias_pieces_}) {
    if (const auto piece = holder(*pieces); piece != pieces->end()) {
      return RealRange{real_address(at), piece->first + piece->second.size - at};
    }
  }
  return std::nullopt;
}

std::vector<RealRange> RealDevice::ranges(Address at, Bytes size) const {
  if (driver_blocks_) return {{at, size}};
  std::vector<RealRange> found;
  for (const Address end = at + size; at < end;) {
    auto here = behind(at);
    if (!here) break;
    here->size = std::min(here->size, end - at);
    at += here->size;
    if (!found.empty() && found.back().address + found.back().size == here->address) {
      found.back().size += here->size;
    } else {
      found.push_back(*here);
    }
  }
  return found;
}

}  // namespace memreplay
