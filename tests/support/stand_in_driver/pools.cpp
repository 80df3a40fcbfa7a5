// Memory pools. One block is one piece of host memory; only the sums are those of a pool.
#include <algorithm>

#include "world.hpp"

namespace stand_in {
namespace {

constexpr std::uint64_t kUnit = 512;

void trim(World& w, Pool& pool, std::uint64_t keep) {
  const std::uint64_t needed = round_up(pool.used, kGranule);
  const std::uint64_t kept = std::max(needed, round_up(std::min(pool.reserved, keep), kGranule));
  w.charged -= pool.reserved - kept;
  pool.reserved = kept;
}

bool grow(World& w, Pool& pool, std::uint64_t size) {
  const std::uint64_t needed = round_up(pool.used + size, kGranule);
  if (needed <= pool.reserved) return true;
  if (!w.charge(needed - pool.reserved)) return false;
  pool.reserved = needed;
  pool.reserved_high = std::max(pool.reserved_high, needed);
  return true;
}

void drop_if_done(World& w, CUmemoryPool handle) {
  const auto pool = w.pools.find(handle);
  if (!pool->second.destroyed || pool->second.used > 0) return;
  trim(w, pool->second, 0);
  w.pools.erase(pool);
}

void finish_free(World& w, CUdeviceptr at) {
  const Allocation block = w.allocations.at(at);
  w.allocations.erase(at);
  w.accessible.erase(at);
  give_back_host_memory(at, block.charged);
  w.pools.at(block.pool).used -= block.charged;
  drop_if_done(w, block.pool);
}

Pool* pool_of(World& w, CUmemoryPool handle) {
  const auto found = w.pools.find(handle);
  if (found != w.pools.end() && !found->second.destroyed) return &found->second;
  w.wrong("a memory pool is used that is not there");
  return nullptr;
}

}  // namespace

void trim_pools() {
  for (auto& [handle, pool] : world().pools) trim(world(), pool, pool.release_threshold);
}

}  // namespace stand_in

using stand_in::called;
using stand_in::called_in_context;
using stand_in::Pool;
using stand_in::World;

CUresult cuMemPoolCreate(CUmemoryPool* handle, const CUmemPoolProps*) {
  return called("cuMemPoolCreate", [&](World& w) {
    *handle = w.new_handle<CUmemoryPool>();
    w.pools[*handle];
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolDestroy(CUmemoryPool handle) {
  return called("cuMemPoolDestroy", [&](World& w) {
    Pool* const pool = stand_in::pool_of(w, handle);
    if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
    pool->destroyed = true;
    stand_in::drop_if_done(w, handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  return called("cuMemPoolSetAttribute", [&](World& w) {
    Pool* const pool = stand_in::pool_of(w, handle);
    if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
      case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        pool->release_threshold = *static_cast<const cuuint64_t*>(value);
        return CUDA_SUCCESS;
      case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
      case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
      case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        return CUDA_SUCCESS;
      default:
        return w.wrong("cuMemPoolSetAttribute of an attribute that is not known here");
    }
  });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  return called("cuMemPoolGetAttribute", [&](World& w) {
    const Pool* const pool = stand_in::pool_of(w, handle);
    if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
    auto& bytes = *static_cast<cuuint64_t*>(value);
    switch (attribute) {
      case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        bytes = pool->used;
        return CUDA_SUCCESS;
      case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
        bytes = pool->reserved;
        return CUDA_SUCCESS;
      case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        bytes = pool->reserved_high;
        return CUDA_SUCCESS;
      default:
        return w.wrong("cuMemPoolGetAttribute of an attribute that is not known here");
    }
  });
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, std::size_t keep) {
  return called("cuMemPoolTrimTo", [&](World& w) {
    Pool* const pool = stand_in::pool_of(w, handle);
    if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
    stand_in::trim(w, *pool, keep);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* at, std::size_t size, CUmemoryPool handle,
                                 CUstream stream) {
  return called_in_context("cuMemAllocFromPoolAsync", [&](World& w) {
    Pool* const pool = stand_in::pool_of(w, handle);
    if (pool == nullptr || !w.work.has_stream(stream)) return CUDA_ERROR_INVALID_VALUE;
    if (size > w.settings.capacity) return CUDA_ERROR_OUT_OF_MEMORY;
    const std::uint64_t charged = stand_in::round_up(size, stand_in::kUnit);
    if (!stand_in::grow(w, *pool, charged)) {
      w.synchronise();
      if (!stand_in::grow(w, *pool, charged)) return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *at = stand_in::take_host_memory(charged);
    if (*at == 0) return CUDA_ERROR_OUT_OF_MEMORY;
    pool->used += charged;
    w.allocations[*at] = {charged, handle};
    w.work.add(stream, [&w, from = *at, to = *at + charged] { w.accessible[from] = to; });
    return CUDA_SUCCESS;
  });
}

CUresult cuMemFreeAsync(CUdeviceptr at, CUstream stream) {
  return called_in_context("cuMemFreeAsync", [&](World& w) {
    const auto found = w.allocations.find(at);
    if (found == w.allocations.end() || found->second.pool == nullptr ||
        found->second.being_freed || !w.work.has_stream(stream)) {
      return w.wrong("cuMemFreeAsync of " + stand_in::hex(at) + ", which is not allocated");
    }
    found->second.being_freed = true;
    w.work.add(stream, [&w, at] { stand_in::finish_free(w, at); });
    return CUDA_SUCCESS;
  });
}
