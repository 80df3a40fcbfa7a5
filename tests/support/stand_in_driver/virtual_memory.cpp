#include <sys/mman.h>

#include <iterator>

#include "world.hpp"

using stand_in::called;
using stand_in::hex;
using stand_in::kGranule;
using stand_in::Mapping;
using stand_in::Piece;
using stand_in::World;

namespace {

void drop_if_unused(World& w, CUmemGenericAllocationHandle handle) {
  const Piece piece = w.pieces.at(handle);
  if (!piece.released || piece.mappings > 0) return;
  w.physical.give_back(piece.offset, piece.size);
  w.charged -= piece.size;
  w.pieces.erase(handle);
}

bool lies_in_a_reservation(const World& w, CUdeviceptr at, std::uint64_t size) {
  const auto next = w.reservations.upper_bound(at);
  if (next == w.reservations.begin()) return false;
  const auto& [from, reserved] = *std::prev(next);
  return at + size <= from + reserved;
}

bool is_mapped_anywhere_in(const World& w, CUdeviceptr at, std::uint64_t size) {
  const auto next = w.mappings.lower_bound(at + size);
  if (next == w.mappings.begin()) return false;
  const auto& [from, mapping] = *std::prev(next);
  return from + mapping.size > at;
}

/// Whether whole mappings, side by side, make up the range.
bool is_made_of_mappings(const World& w, CUdeviceptr at, std::uint64_t size) {
  const CUdeviceptr to = at + size;
  while (at < to) {
    const auto mapping = w.mappings.find(at);
    if (mapping == w.mappings.end()) return false;
    at += mapping->second.size;
  }
  return at == to;
}

bool is_whole(std::uint64_t size) { return size > 0 && size % kGranule == 0; }

}  // namespace

CUresult cuMemGetAllocationGranularity(std::size_t* granularity, const CUmemAllocationProp*,
                                       CUmemAllocationGranularity_flags) {
  return called("cuMemGetAllocationGranularity", [&](World&) {
    *granularity = kGranule;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAddressReserve(CUdeviceptr* at, std::size_t size, std::size_t, CUdeviceptr,
                             unsigned long long) {
  return called("cuMemAddressReserve", [&](World& w) {
    if (!is_whole(size)) return w.wrong("cuMemAddressReserve of parts of granules");
    *at = stand_in::take_addresses(size, false);
    if (*at == 0) return CUDA_ERROR_OUT_OF_MEMORY;
    w.reservations[*at] = size;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAddressFree(CUdeviceptr at, std::size_t size) {
  return called("cuMemAddressFree", [&](World& w) {
    const auto found = w.reservations.find(at);
    if (found == w.reservations.end() || found->second != size) {
      return w.wrong("cuMemAddressFree of " + hex(at) + ", which is not reserved like that");
    }
    if (is_mapped_anywhere_in(w, at, size)) {
      return w.wrong("cuMemAddressFree of " + hex(at) + ", where memory is mapped");
    }
    stand_in::give_back_addresses(at, size);
    w.reservations.erase(found);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t size,
                     const CUmemAllocationProp* properties, unsigned long long) {
  return called("cuMemCreate", [&](World& w) {
    if (!is_whole(size) || properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
      return w.wrong("cuMemCreate of parts of granules, or elsewhere");
    }
    if (!w.charge(size)) return CUDA_ERROR_OUT_OF_MEMORY;
    const auto offset = w.physical.take(size);
    if (!offset) {
      w.charged -= size;
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *handle = w.next_handle++;
    w.pieces[*handle] = {*offset, size};
    return CUDA_SUCCESS;
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return called("cuMemRelease", [&](World& w) {
    const auto found = w.pieces.find(handle);
    if (found == w.pieces.end() || found->second.released) {
      return w.wrong("cuMemRelease of what is not there");
    }
    found->second.released = true;
    drop_if_unused(w, handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemMap(CUdeviceptr at, std::size_t size, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long) {
  return called("cuMemMap", [&](World& w) {
    const auto found = w.pieces.find(handle);
    if (found == w.pieces.end() || found->second.released) {
      return w.wrong("cuMemMap of what is not there");
    }
    Piece& piece = found->second;
    if (offset != 0 || size != piece.size || at % kGranule != 0) {
      return w.wrong("cuMemMap of a part of a piece");
    }
    if (!lies_in_a_reservation(w, at, size)) {
      return w.wrong("cuMemMap at " + hex(at) + ", which is not reserved");
    }
    if (is_mapped_anywhere_in(w, at, size)) {
      return w.wrong("cuMemMap at " + hex(at) + ", where memory is mapped");
    }
    if (!w.physical.map(at, size, piece.offset)) return CUDA_ERROR_OUT_OF_MEMORY;
    w.mappings[at] = {size, handle};
    ++piece.mappings;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemSetAccess(CUdeviceptr at, std::size_t size, const CUmemAccessDesc*, std::size_t) {
  return called("cuMemSetAccess", [&](World& w) {
    if (!is_made_of_mappings(w, at, size)) {
      return w.wrong("cuMemSetAccess at " + hex(at) + ", which is not mapped like that");
    }
    if (mprotect(reinterpret_cast<void*>(at), size, PROT_READ | PROT_WRITE) != 0) {
      return CUDA_ERROR_UNKNOWN;
    }
    for (CUdeviceptr from = at; from < at + size; from += w.mappings.at(from).size) {
      w.accessible[from] = from + w.mappings.at(from).size;
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuMemUnmap(CUdeviceptr at, std::size_t size) {
  return called("cuMemUnmap", [&](World& w) {
    if (!is_made_of_mappings(w, at, size)) {
      return w.wrong("cuMemUnmap at " + hex(at) + ", which is not mapped like that");
    }
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    if (mmap(reinterpret_cast<void*>(at), size, PROT_NONE, flags, -1, 0) == MAP_FAILED) {
      return CUDA_ERROR_UNKNOWN;
    }
    for (CUdeviceptr from = at; from < at + size;) {
      const Mapping mapping = w.mappings.at(from);
      w.mappings.erase(from);
      w.accessible.erase(from);
      --w.pieces.at(mapping.piece).mappings;
      drop_if_unused(w, mapping.piece);
      from += mapping.size;
    }
    return CUDA_SUCCESS;
  });
}
