#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "answers.hpp"
#include "fat_binaries.hpp"
#include "machine.hpp"
#include "properties.hpp"
#include "settings.hpp"

// Kernels, graphs and the modules that hold them: nothing is computed.
using namespace memreplay::gpu;

namespace {

struct CallConfiguration {
  Dim3 grid, block;
  std::size_t shared_bytes;
  Stream stream;
};

constexpr std::size_t kNestedCalls = 16;
constexpr int kKernelRegisters = 32;  ///< same for every kernel, as none is read
thread_local CallConfiguration configurations[kNestedCalls];
thread_local std::size_t configuration_count = 0;

int card_architecture() { return settings().major * 10 + settings().minor; }

/// The code that a program's kernels have for this card. Binaries are registered before the program
/// begins, and as it loads more of them.
class Kernels {
 public:
  /// Stays as long as the process.
  static Kernels& instance() {
    static auto* kernels = new Kernels;
    return *kernels;
  }

  static void** add_binary(const void* wrapper) {
    return reinterpret_cast<void**>(new BinaryCode(code_for(wrapper, card_architecture())));
  }
  void add(void** binary, const void* function) {
    const BinaryCode& code = *reinterpret_cast<BinaryCode*>(binary);
    if (code.architecture == 0 || code.architecture == card_architecture()) return;
    const std::lock_guard lock(mutex_);
    of_others_[function] = code;
    some_do_not_run_ = some_do_not_run_ || !code.runs;
  }
  int architecture_of(const void* function) {
    const std::lock_guard lock(mutex_);
    const auto other = of_others_.find(function);
    return other == of_others_.end() ? card_architecture() : other->second.architecture;
  }
  Status launched(const void* function) {
    if (some_do_not_run_) {
      const std::lock_guard lock(mutex_);
      const auto other = of_others_.find(function);
      if (other != of_others_.end() && !other->second.runs)
        code_was_missing(other->second.architecture);
    }
    return computed();
  }

 private:
  std::mutex mutex_;
  std::atomic<bool> some_do_not_run_ = false;
  std::unordered_map<const void*, BinaryCode> of_others_;  ///< without code of the card's own
};

Status launched(const void* function) { return Kernels::instance().launched(function); }

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cudaLaunchKernel(const void* function, Dim3, Dim3, void**, std::size_t, Stream) {
  return launched(function);
}
Status cudaLaunchKernelExC(const void*, const void* function, void**) { return launched(function); }
Status cudaLaunchCooperativeKernel(const void* function, Dim3, Dim3, void**, std::size_t, Stream) {
  return launched(function);
}
Status __cudaLaunchKernel(Handle kernel, Dim3, Dim3, void**, std::size_t, Stream) {
  return launched(kernel);
}
Status cuLaunchKernel(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      Stream, void**, void**) {
  return computed();
}
Status cuLaunchKernelEx(const void*, Handle, void**, void**) { return computed(); }
Status cuLaunchCooperativeKernel(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 unsigned, Stream, void**) {
  return computed();
}

Status __cudaGetKernel(Handle* kernel, const void* function) {
  *kernel = const_cast<void*>(function);
  return kSuccess;
}

Status cudaGetFuncBySymbol(Handle* function, const void* symbol) {
  *function = const_cast<void*>(symbol);
  return kSuccess;
}

Status cudaLaunchHostFunc(Stream, void (*function)(void*), void* argument) {
  function(argument);
  return kSuccess;
}

Status cudaStreamAddCallback(Stream stream, void (*callback)(Stream, Status, void*), void* argument,
                             unsigned) {
  callback(stream, kSuccess, argument);
  return kSuccess;
}

unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t shared_bytes,
                                     Stream stream) {
  configurations[configuration_count++ % kNestedCalls] = {grid, block, shared_bytes, stream};
  return 0;
}

Status __cudaPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* shared_bytes,
                                  Stream* stream) {
  const CallConfiguration& call = configurations[--configuration_count % kNestedCalls];
  *grid = call.grid;
  *block = call.block;
  *shared_bytes = call.shared_bytes;
  *stream = call.stream;
  return kSuccess;
}

void** __cudaRegisterFatBinary(void* wrapper) { return Kernels::add_binary(wrapper); }

void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void** binary, const char* function, char*, const char*, int, void*,
                            void*, void*, void*, int*) {
  Kernels::instance().add(binary, function);
}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
char __cudaInitModule(void**) { return 1; }

Status cudaGetSymbolAddress(void** address, const void*) {
  *address = machine().symbols();
  return kSuccess;
}

Status cudaFuncGetAttributes(FunctionAttributes* attributes, const void* function) {
  *attributes = {};
  attributes->max_threads_per_block = kThreadsPerBlock;
  attributes->registers = kKernelRegisters;
  attributes->ptx_version = attributes->binary_version =
      Kernels::instance().architecture_of(function);
  attributes->max_dynamic_shared_bytes = kSharedPerBlock;
  return kSuccess;
}

/// As many as their threads allow, and the memory that they share: no kernel's registers are read.
Status cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int threads,
                                                     std::size_t shared_bytes) {
  const Capability can = capability();
  if (threads <= 0) return failed(kInvalidValue);
  const auto by_memory = static_cast<std::size_t>(can.shared_per_multiprocessor) /
                         (shared_bytes + kReservedSharedPerBlock);
  *blocks = std::min(
      {can.blocks_per_multiprocessor,
       can.threads_per_multiprocessor /
           static_cast<int>(memreplay::round_up(static_cast<memreplay::Bytes>(threads), kWarp)),
       static_cast<int>(by_memory)});
  return kSuccess;
}

Status cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                              int threads, std::size_t shared_bytes,
                                                              unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared_bytes);
}

Status cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Handle function, int threads,
                                                   std::size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared_bytes);
}

Status cudaGraphInstantiate(Handle* executable, Handle graph, unsigned long long) {
  *executable = graph;
  return kSuccess;
}

Status cudaGraphInstantiateWithFlags(Handle* executable, Handle graph, unsigned long long) {
  *executable = graph;
  return kSuccess;
}

/// A graph that has one node: PyTorch warns of an empty one.
Status cudaGraphGetNodes(Handle, Handle* nodes, std::size_t* count) {
  if (nodes && count && *count > 0) *nodes = some_handle();
  if (count) *count = 1;
  return kSuccess;
}

Status cudaGraphLaunch(Handle, Stream) { return computed(); }

Status cudaUserObjectCreate(Handle* object, void*, void (*)(void*), unsigned, unsigned) {
  return give_handle(object);
}

Status cudaLibraryLoadData(Handle* library, const void*, void*, void*, unsigned, void*, void*,
                           unsigned) {
  return give_handle(library);
}

Status cudaLibraryGetKernel(Handle* kernel, Handle, const char*) { return give_handle(kernel); }

Status cuModuleLoadData(Handle* module, const void*) { return give_handle(module); }

Status cuModuleLoadDataEx(Handle* module, const void*, unsigned, void*, void*) {
  return cuModuleLoadData(module, nullptr);
}

Status cuModuleGetFunction(Handle* function, Handle, const char*) { return give_handle(function); }

/// The kernel is one that was compiled for this card.
Status cuFuncGetAttribute(int* value, int attribute, Handle) {
  constexpr int kMostThreads = 0;
  constexpr int kRegistersUsed = 4;
  constexpr int kPtxVersion = 5;
  constexpr int kBinaryVersion = 6;
  *value = attribute == kMostThreads                                 ? kThreadsPerBlock
           : attribute == kRegistersUsed                             ? kKernelRegisters
           : attribute == kPtxVersion || attribute == kBinaryVersion ? card_architecture()
                                                                     : 0;
  return kSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
