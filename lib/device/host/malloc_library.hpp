#pragma once

#include <memory>
#include <string>

#include "core/error.hpp"
#include "device/host/host_pages.hpp"
#include "device/host/system_memory.hpp"
#include "device/real/real_memory.hpp"

namespace memreplay {

/// The library wants more thread-local memory than the dynamic loader keeps for libraries that come
/// late (jemalloc does). A process that was started with kStaticTlsTunable in its environment can
/// load such a library.
class StaticTlsError : public UsageError {
 public:
  using UsageError::UsageError;
};
inline constexpr const char* kStaticTlsTunable =
    "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384";

/// Blocks of `malloc` and its kin: of this process, or of a library such as "libjemalloc.so.2",
/// which stays loaded. What it holds is what came to the resident memory. Throws UsageError where
/// the library cannot be loaded or has no malloc.
std::unique_ptr<DriverBlocks> open_malloc_library(const std::string& library, Room& room,
                                                  ResidentMemory& resident);

/// Throws what `open_malloc_library` would.
void check_malloc_library(const std::string& library);

}  // namespace memreplay
