#include "device/host/malloc_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>
#include <stdexcept>

#include "core/address_table.hpp"
#include "device/host/pointer.hpp"

namespace memreplay {
namespace {

/// What every malloc serves without being asked, for blocks that are no smaller.
constexpr Bytes kAlignment = 16;

const void* object_of(void* symbol) {
  Dl_info info{};
  return symbol != nullptr && ::dladdr(symbol, &info) != 0 ? info.dli_fbase : nullptr;
}

void* load(const std::string& library) {
  if (void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
    return handle;
  }
  const char* error = ::dlerror();
  const std::string why = error != nullptr ? error : "unknown error";
  if (why.find("static TLS") != why.npos) {
    throw StaticTlsError(fmt::format("malloc library '{}' cannot be loaded: {}; it can with {}",
                                     library, why, kStaticTlsTunable));
  }
  throw UsageError(fmt::format("malloc library '{}' cannot be loaded: {}", library, why));
}

/// The functions of one object. A search by name goes on in what a library itself needs, and finds
/// libc's there: not to be mixed with the library's own.
class Functions {
 public:
  explicit Functions(const std::string& library) {
    handle_ = library.empty() ? RTLD_DEFAULT : load(library);
    void* found = ::dlsym(handle_, "malloc");
    object_ = object_of(found);
    link_map* map = nullptr;
    const bool own = library.empty() || (::dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 &&
                                         reinterpret_cast<Address>(object_) == map->l_addr);
    find(malloc, "malloc");
    find(free, "free");
    if (!own || malloc == nullptr || free == nullptr) {
      throw UsageError(
          fmt::format("malloc library '{}' has no malloc and free of its own", library));
    }
    find(usable_size, "malloc_usable_size");
    find(posix_memalign, "posix_memalign");
    find(aligned_alloc, "aligned_alloc");
    find(memalign, "memalign");
    find(malloc_trim, "malloc_trim");
    find(tcmalloc_idle, "MallocExtension_MarkThreadIdle");
    find(tcmalloc_release, "MallocExtension_ReleaseFreeMemory");
    find(mimalloc_collect, "mi_collect");
    find(jemalloc_control, "mallctl");
  }

  void* aligned(Bytes alignment, Bytes size) const {
    if (posix_memalign != nullptr) {
      void* block = nullptr;
      return posix_memalign(&block, alignment, size) == 0 ? block : nullptr;
    }
    if (aligned_alloc != nullptr) return aligned_alloc(alignment, round_up(size, alignment));
    return memalign != nullptr ? memalign(alignment, size) : nullptr;
  }

  void trim() const {
    if (malloc_trim != nullptr) {
      malloc_trim(0);
    } else if (tcmalloc_release != nullptr) {
      if (tcmalloc_idle != nullptr) tcmalloc_idle();  // the thread's own cache
      tcmalloc_release();
    } else if (mimalloc_collect != nullptr) {
      mimalloc_collect(true);
    } else if (jemalloc_control != nullptr) {
      jemalloc_control("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
      jemalloc_control("arena.4096.purge", nullptr, nullptr, nullptr, 0);  // 4096: all arenas
    }
  }

  void* (*malloc)(std::size_t) = nullptr;
  void (*free)(void*) = nullptr;
  std::size_t (*usable_size)(void*) = nullptr;

 private:
  template <typename Function>
  void find(Function*& function, const char* name) {
    void* symbol = ::dlsym(handle_, name);
    if (object_of(symbol) == object_) function = reinterpret_cast<Function*>(symbol);
  }

  int (*posix_memalign)(void**, std::size_t, std::size_t) = nullptr;
  void* (*aligned_alloc)(std::size_t, std::size_t) = nullptr;
  void* (*memalign)(std::size_t, std::size_t) = nullptr;
  int (*malloc_trim)(std::size_t) = nullptr;
  void (*tcmalloc_idle)() = nullptr;
  void (*tcmalloc_release)() = nullptr;
  void (*mimalloc_collect)(bool) = nullptr;
  int (*jemalloc_control)(const char*, void*, std::size_t*, void*, std::size_t) = nullptr;

  void* handle_ = nullptr;
  const void* object_ = nullptr;
};

class MallocBlocks final : public DriverBlocks {
 public:
  MallocBlocks(const std::string& library, Room& room, ResidentMemory& resident)
      : functions_(library), room_(&room), growth_(resident) {}

  // A library outlives its replay: pages that it kept would not show in the next one.
  ~MallocBlocks() override {
    blocks_.for_each([&](Address block, Bytes size) { give_back(block, size); });
    functions_.trim();
  }

  std::optional<DriverBlock> allocate(Bytes size, Bytes alignment, StreamIndex) override {
    if (size > room_->left()) return std::nullopt;
    const bool plain = alignment <= std::min<Bytes>(kAlignment, std::bit_floor(size));
    void* block = plain ? functions_.malloc(size)
                        : functions_.aligned(std::max<Bytes>(alignment, sizeof(void*)), size);
    if (block == nullptr) return std::nullopt;
    const Bytes usable = functions_.usable_size != nullptr ? functions_.usable_size(block) : size;
    if (!room_->take(usable)) {
      functions_.free(block);
      return std::nullopt;
    }
    const auto address = reinterpret_cast<Address>(block);
    *blocks_.emplace(address).first = usable;
    return DriverBlock{address, usable};
  }

  void free(Address block, StreamIndex) override {
    const Bytes* size = blocks_.find(block);
    if (size == nullptr) throw std::logic_error("malloc: free of an unknown block");
    give_back(block, *size);
    blocks_.erase(block);
  }

  void trim() override { functions_.trim(); }
  Bytes held() override { return growth_.now(); }
  Bytes peak_held() override { return growth_.peak(); }

 private:
  void give_back(Address block, Bytes size) {
    functions_.free(pointer_to(block));
    room_->give_back(size);
  }

  Functions functions_;
  Room* room_;
  AddressTable<Bytes> blocks_;  ///< usable bytes
  ResidentGrowth growth_;
};

}  // namespace

std::unique_ptr<DriverBlocks> open_malloc_library(const std::string& library, Room& room,
                                                  ResidentMemory& resident) {
  return std::make_unique<MallocBlocks>(library, room, resident);
}

void check_malloc_library(const std::string& library) { Functions{library}; }

}  // namespace memreplay
