#include "device/real/real_device.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "core/error.hpp"

namespace memreplay {
namespace {

SimulatedDeviceOptions books_of(RealMemory& memory, const RealDeviceOptions& options) {
  const RealMemoryFacts& facts = memory.facts();
  const Bytes of_others =
      options.capacity ? 0 : facts.total - std::min(facts.total, memory.free_bytes());
  return {.capacity = options.capacity.value_or(facts.total),
          .reserve = of_others + options.reserve,
          .granularity = facts.granularity};
}

/// For the end, when all that can be done about a failure is to go on. Tries twice: the first
/// failure may come from work that was asked for before.
template <typename Call>
void unheard(const Call& call) {
  for (int attempts = 0; attempts < 2; ++attempts) {
    try {
      return call();
    } catch (const DeviceError&) {
    }
  }
}

}  // namespace

RealDevice::RealDevice(RealMemory& memory, const RealDeviceOptions& options)
    : memory_(memory),
      regions_kind_(options.regions),
      granule_(options.granule == 0 ? memory.facts().granularity : options.granule),
      books_(books_of(memory, options)) {
  if (granule_ % memory.facts().granularity != 0) {
    throw UsageError(memory.facts().kind + " maps memory in whole pieces of " +
                     std::to_string(memory.facts().granularity) + " bytes; a chunk of " +
                     std::to_string(granule_) + " is none");
  }
  if (!memory.facts().has_virtual_memory) regions_kind_ = RealDeviceOptions::Regions::allocated;
}

RealDevice::~RealDevice() {
  unheard([&] { memory_.execution().synchronise(); });
  for (const auto& [at, piece] : alias_pieces_) {
    unheard([&, at = at, size = piece.size] { memory_.unmap(real_address(at), size); });
  }
  for (const auto& [at, piece] : pieces_) {
    unheard([&, at = at, size = piece.size] { memory_.unmap(real_address(at), size); });
    loose_pieces_.push_back(piece);
  }
  for (const Piece& piece : loose_pieces_) unheard([&] { memory_.destroy(piece.piece); });
  for (const Ranges* addresses : {&reservations_, &windows_}) {
    for (const auto& [at, range] : *addresses) {
      unheard([&, range = range] { memory_.release(range.address, range.size); });
    }
  }
  for (const auto& [at, range] : regions_) {
    if (range.size != 0) unheard([&, range = range] { memory_.free(range.address); });
  }
}

std::unique_ptr<DeviceModel> RealDevice::clone() const {
  throw std::logic_error("real memory cannot be copied");
}

VirtualMemory* RealDevice::virtual_memory() {
  return memory_.facts().has_virtual_memory ? this : nullptr;
}

Bytes RealDevice::free_bytes() const {
  const Bytes free = books_.free_bytes();
  return driver_blocks_ ? free - std::min(free, usage_.held) : free;
}

std::optional<Address> RealDevice::obtain(Bytes size) {
  std::optional<Address> region;
  if (!books_.has_room_for(size)) {
    books_.refuse();
  } else if (regions_kind_ != RealDeviceOptions::Regions::allocated) {
    region = obtain_mapped(size);
  } else if (const auto real = memory_.allocate(size)) {
    region = books_.obtain(size);
    regions_.emplace(*region, RealRange{*real, size});
  } else {
    books_.refuse();
  }
  follow_books();
  if (region) memory_.sample();
  return region;
}

std::optional<Address> RealDevice::obtain_mapped(Bytes size) {
  const Bytes whole = round_up(size, memory_.facts().granularity);
  const bool in_granules = regions_kind_ == RealDeviceOptions::Regions::mapped_in_granules;
  const Bytes granule = whole % granule_ == 0 ? granule_ : memory_.facts().granularity;
  if (!create_pieces(whole, in_granules ? granule : whole)) {
    books_.refuse();
    return std::nullopt;
  }
  const auto region = books_.obtain(size);
  ensure_reserved(*region, whole);
  if (!map_loose_pieces(*region)) {
    books_.take_back(*region);
    return std::nullopt;
  }
  mapped_regions_.emplace(*region, whole);
  return region;
}

void RealDevice::give_back(Address region) {
  if (const auto mapped = mapped_regions_.find(region); mapped != mapped_regions_.end()) {
    unmap_pieces(region, mapped->second);
    mapped_regions_.erase(mapped);
  } else if (const auto allocated = regions_.find(region); allocated != regions_.end()) {
    before_return_(region, allocated->second.size);
    if (allocated->second.size != 0) memory_.free(allocated->second.address);
    regions_.erase(allocated);
  }
  books_.give_back(region);
  follow_books();
}

void RealDevice::adopt(Address region, Bytes size, bool mapped) {
  books_.adopt(region, size, mapped);
  bool found_room = true;
  if (mapped) {
    ensure_reserved(region, size);
    found_room = create_pieces(size, memory_.facts().granularity) && map_loose_pieces(region);
  } else {
    const auto real = memory_.allocate(size);
    found_room = real.has_value();
    regions_.emplace(region, real ? RealRange{*real, size} : RealRange{});
  }
  if (!found_room) {
    ++not_adopted_;
    books_.refuse();
  }
  follow_books();
  memory_.sample();
}

std::optional<Address> RealDevice::reserve(Bytes size) {
  const Bytes whole = round_up(size, memory_.facts().granularity);
  const auto real = memory_.reserve(whole);
  if (!real) return std::nullopt;
  const auto at = books_.reserve(size);
  if (at) {
    reservations_.emplace(*at, RealRange{*real, whole});
  } else {
    memory_.release(*real, whole);
  }
  return at;
}

bool RealDevice::map(Address at, Bytes size, Bytes granule) {
  ensure_reserved(at, size);
  const bool granted =
      books_.has_room_for(size) && create_pieces(size, granule) && map_loose_pieces(at);
  if (granted) {
    books_.map(at, size, granule);
  } else {
    books_.refuse();
  }
  follow_books();
  if (granted) memory_.sample();
  return granted;
}

void RealDevice::unmap(Address at, Bytes size) {
  unmap_pieces(at, size);
  books_.unmap(at, size);
  follow_books();
}

void RealDevice::alias(Address at, Address of, Bytes size, Bytes granule) {
  ensure_reserved(at, size);
  for (auto piece = pieces_.lower_bound(of); piece != pieces_.end() && piece->first < of + size;
       ++piece) {
    const Address here = at + (piece->first - of);
    if (!memory_.map(real_address(here), piece->second.size, piece->second.piece)) full();
    alias_pieces_.emplace(here, piece->second);
  }
  if (!memory_.set_access(real_address(at), size)) full();
  aliases_.emplace(at, size);
  books_.alias(at, of, size, granule);
  follow_books();
}

void RealDevice::unalias(Address at) {
  const auto alias = aliases_.find(at);
  if (alias == aliases_.end()) throw std::logic_error("unalias of what is no alias");
  before_return_(at, alias->second);
  memory_.execution().synchronise();
  auto piece = alias_pieces_.lower_bound(at);
  while (piece != alias_pieces_.end() && piece->first < at + alias->second) {
    memory_.unmap(real_address(piece->first), piece->second.size);
    piece = alias_pieces_.erase(piece);
  }
  aliases_.erase(alias);
  books_.unalias(at);
  follow_books();
}

void RealDevice::release(Address at) {
  const auto reservation = reservations_.find(at);
  if (reservation == reservations_.end()) {
    throw std::logic_error("release of addresses that are not reserved");
  }
  books_.release(at);
  memory_.release(reservation->second.address, reservation->second.size);
  reservations_.erase(reservation);
}

// What was created and has no address yet is known at every moment, so that it can be returned
// whatever fails.
bool RealDevice::create_pieces(Bytes size, Bytes granule) {
  for (Bytes made = 0; made < size; made += granule) {
    const auto piece = memory_.create(granule);
    if (!piece) {
      destroy_loose_pieces();
      return false;
    }
    loose_pieces_.push_back({granule, *piece});
  }
  return true;
}

void RealDevice::destroy_loose_pieces() {
  while (!loose_pieces_.empty()) {
    memory_.destroy(loose_pieces_.back().piece);
    loose_pieces_.pop_back();
  }
}

// All of them side by side, or, where the driver is full, none: then they are destroyed.
bool RealDevice::map_loose_pieces(Address at) {
  Address end = at;
  for (const Piece& piece : loose_pieces_) end += piece.size;
  bool granted = true;
  for (Address to = end; granted && !loose_pieces_.empty();) {
    const Piece piece = loose_pieces_.back();
    to -= piece.size;
    granted = memory_.map(real_address(to), piece.size, piece.piece);
    if (!granted) break;
    pieces_.emplace(to, piece);
    loose_pieces_.pop_back();
  }
  granted = granted && memory_.set_access(real_address(at), end - at);
  if (!granted) {
    unmap_pieces(at, end - at);
    destroy_loose_pieces();
  }
  return granted;
}

// Work may still be under way there: the driver does not wait for it by itself.
void RealDevice::unmap_pieces(Address at, Bytes size) {
  before_return_(at, size);
  memory_.execution().synchronise();
  auto piece = pieces_.lower_bound(at);
  while (piece != pieces_.end() && piece->first < at + size) {
    memory_.unmap(real_address(piece->first), piece->second.size);
    loose_pieces_.push_back(piece->second);
    piece = pieces_.erase(piece);
    destroy_loose_pieces();
  }
}

void RealDevice::full() const {
  throw DeviceError(memory_.facts().kind + ": no room for what maps addresses to memory");
}

void RealDevice::open(const DriverAllocatorOptions& options) {
  driver_blocks_ = memory_.open_allocator(options);
}

std::optional<DriverBlock> RealDevice::allocate(Bytes size, Bytes alignment, StreamIndex stream) {
  std::optional<DriverBlock> block;
  const Bytes room = books_.free_bytes();
  if (size <= room && live_of_driver_ <= room - size) {
    block = driver_blocks_->allocate(size, alignment, stream);
  }
  if (block) {
    driver_sizes_.emplace(block->address, block->size);
    live_of_driver_ += block->size;
    ++usage_.allocs;
    usage_.peak_regions = std::max(usage_.peak_regions, ++usage_.regions);
    memory_.sample();
  } else {
    ++usage_.refusals;
  }
  follow_driver();
  return block;
}

void RealDevice::free(Address block, StreamIndex stream) {
  const auto size = driver_sizes_.find(block);
  if (size == driver_sizes_.end()) throw std::logic_error("free of what is not allocated");
  driver_blocks_->free(block, stream);
  live_of_driver_ -= size->second;
  driver_sizes_.erase(size);
  ++usage_.frees;
  --usage_.regions;
  follow_driver();
}

void RealDevice::trim() {
  driver_blocks_->trim();
  follow_driver();
}

void RealDevice::follow_driver() {
  usage_.held = driver_blocks_->held();
  usage_.peak_held = std::max({usage_.peak_held, usage_.held, driver_blocks_->peak_held()});
}

}  // namespace memreplay
