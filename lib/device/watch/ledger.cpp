#include "device/watch/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace memreplay {
namespace {

/// The entry of a map from -> to that holds a byte of [from, to), or the end.
std::map<Address, Address>::const_iterator overlapping(const std::map<Address, Address>& ranges,
                                                       Address from, Address to) {
  const auto next = ranges.lower_bound(from);
  if (next != ranges.begin() && std::prev(next)->second > from) return std::prev(next);
  return next != ranges.end() && next->first < to ? next : ranges.end();
}

}  // namespace

void Ledger::fail(std::string_view rule, Address from, Address to) const {
  throw AuditError(fmt::format("strategy '{}', event {}: {}: [{:#x}, {:#x})", strategy_, event_,
                               rule, from, to));
}

template <typename Visit>
void Ledger::for_each_piece(AddressRange shown, const Visit& visit) const {
  Address at = shown.from;
  auto alias = aliases_.upper_bound(at);
  if (alias != aliases_.begin() && std::prev(alias)->second.to > at) --alias;
  for (; alias != aliases_.end() && alias->first < shown.to; ++alias) {
    if (at < alias->first) visit(AddressRange{at, alias->first});
    at = std::max(at, alias->first);
    const Address to = std::min(alias->second.to, shown.to);
    const Address of = alias->second.of + (at - alias->first);
    visit(AddressRange{of, of + (to - at)});
    at = to;
  }
  if (at < shown.to) visit(AddressRange{at, shown.to});
}

void Ledger::forget(AddressRange shown) {
  for_each_piece(shown, [&](AddressRange piece) { live_.erase(piece.from); });
  live_aliased_.erase(shown.from);
}

bool Ledger::given(Address from, Address to) const {
  auto region = overlapping(regions_, from, to);
  if (region != regions_.end()) {
    if (region->first > from) return false;
    while (region->second < to) {
      if (!regions_join_) return false;
      const Address end = region->second;
      if (++region == regions_.end() || region->first != end) return false;
    }
    return true;
  }
  const auto run = mapped_.at(from);
  return run && to <= run->to;
}

void Ledger::check_unused(AddressRange range) {
  for (auto block = overlapping(live_, range.from, range.to);
       block != live_.end() && block->first < range.to; ++block) {
    bool pending = false;
    for (const auto& [handle, shown] : pending_) {
      for_each_piece(shown, [&](AddressRange piece) { pending |= piece.from == block->first; });
    }
    if (!pending && may_move_) {
      returned_under_.insert(*block);
      continue;
    }
    if (!pending)
      fail("memory was returned to the device under a live block", block->first, block->second);
    returned_early_ = {block->first, block->second};
  }
}

void Ledger::begin(std::uint64_t event) {
  if (!returned_under_.empty()) {
    const auto& [from, to] = *returned_under_.begin();
    fail("memory was returned to the device under a live block", from, to);
  }
  event_ = event;
  if (returned_early_) {
    fail("memory was returned to the device while a stream used it", returned_early_->from,
         returned_early_->to);
  }
}

void Ledger::synchronised() {
  returned_early_.reset();
  for (const auto& [handle, shown] : pending_) {
    forget(shown);
    completed_early_.insert(handle);
  }
  pending_.clear();
}

void Ledger::on_device_call(const DeviceCall& call) {
  using Kind = DeviceCall::Kind;
  switch (call.kind) {
    case Kind::obtain:
    case Kind::adopt:
      return region_given(call.address, call.bytes);
    case Kind::allocate:
      return region_given(call.address, call.charged);
    case Kind::give_back:
    case Kind::free:
      return region_taken_back(call.address);
    case Kind::map:
    case Kind::adopt_mapped:
      return mapped(call.address, call.bytes);
    case Kind::unmap:
      return unmapped(call.address, call.bytes);
    case Kind::alias:
      return aliased(call.address, call.of, call.bytes);
    case Kind::unalias:
      return unaliased(call.address);
  }
}

void Ledger::region_given(Address region, Bytes size) { regions_[region] = region + size; }

void Ledger::region_taken_back(Address region) {
  const auto held = regions_.find(region);
  if (held == regions_.end()) fail("a region was returned that is not held", region, region);
  check_unused({held->first, held->second});
  const auto alias = std::find_if(aliases_.begin(), aliases_.end(), [&](const auto& other) {
    return other.second.of >= held->first && other.second.of < held->second;
  });
  if (alias != aliases_.end()) {
    fail("a region was returned that is mapped elsewhere", alias->first, alias->second.to);
  }
  regions_.erase(held);
}

void Ledger::mapped(Address at, Bytes size) { mapped_.insert({at, at + size}); }

void Ledger::unmapped(Address at, Bytes size) {
  check_unused({at, at + size});
  if (!mapped_.erase({at, at + size}))
    fail("addresses were unmapped that are not mapped", at, at + size);
}

void Ledger::aliased(Address at, Address of, Bytes size) {
  if (!given(of, of + size)) fail("memory was mapped that the device did not give", of, of + size);
  aliases_[at] = {at + size, of};
}

void Ledger::unaliased(Address at) {
  const auto alias = aliases_.find(at);
  if (alias == aliases_.end()) fail("addresses were unmapped that are not mapped", at, at);
  if (const auto block = overlapping(live_aliased_, at, alias->second.to);
      block != live_aliased_.end()) {
    if (!may_move_) {
      fail("addresses were unmapped under a live block", block->first, block->second);
    }
    for_each_piece({block->first, block->second},
                   [&](AddressRange piece) { returned_under_.emplace(piece.from, piece.to); });
    alias->second.undone = true;
    return;
  }
  aliases_.erase(alias);
}

void Ledger::placed(std::uint64_t event, const Request& request, const Placement& placement) {
  begin(event);
  const Address from = placement.address;
  const Address to = from + placement.size;
  if (placement.size < request.size || to < from) {
    fail(fmt::format("a block is smaller than the {} bytes asked for", request.size), from, to);
  }
  if (request.alignment != 0 && from % request.alignment != 0) {
    fail(fmt::format("a block is not aligned to {} bytes", request.alignment), from, to);
  }
  bool is_aliased = false;
  for_each_piece({from, to}, [&](AddressRange piece) {
    if (!given(piece.from, piece.to)) fail("a block lies outside what the device gave", from, to);
    if (const auto other = overlapping(live_, piece.from, piece.to); other != live_.end()) {
      fail(fmt::format("a block overlaps the live block [{:#x}, {:#x})", other->first,
                       other->second),
           from, to);
    }
    live_.emplace(piece.from, piece.to);
    is_aliased |= piece.from != from || piece.to != to;
  });
  if (is_aliased) live_aliased_.emplace(from, to);
}

void Ledger::check_live(const Placement& placement) const {
  const AddressRange shown{placement.address, placement.address + placement.size};
  for_each_piece(shown, [&](AddressRange piece) {
    const auto block = live_.find(piece.from);
    if (block == live_.end() || block->second != piece.to) {
      fail("a block was freed that is not live", shown.from, shown.to);
    }
  });
}

void Ledger::free_requested(std::uint64_t event, const Placement& placement) {
  begin(event);
  check_live(placement);
  const AddressRange shown{placement.address, placement.address + placement.size};
  if (!pending_.emplace(placement.handle, shown).second) {
    fail("the free of a block was requested twice", placement.address,
         placement.address + placement.size);
  }
}

void Ledger::moved_out(const Placement& placement) {
  check_live(placement);
  const AddressRange shown{placement.address, placement.address + placement.size};
  for_each_piece(shown, [&](AddressRange piece) { returned_under_.erase(piece.from); });
  forget(shown);
  const auto after = aliases_.upper_bound(shown.from);
  if (after == aliases_.begin()) return;
  const auto alias = std::prev(after);
  if (alias->second.undone &&
      overlapping(live_aliased_, alias->first, alias->second.to) == live_aliased_.end()) {
    aliases_.erase(alias);
  }
}

void Ledger::moved(const Placement& from, const Placement& to) {
  moved_out(from);
  placed(event_, {.size = from.size}, to);
}

void Ledger::freed(std::uint64_t event, const Placement& placement) {
  begin(event);
  if (completed_early_.erase(placement.handle) != 0) return;
  check_live(placement);
  forget({placement.address, placement.address + placement.size});
  pending_.erase(placement.handle);
}

}  // namespace memreplay
