#include <cstdint>
#include <cstring>
#include <vector>

#include "answers.hpp"
#include "machine.hpp"
#include "runtime.hpp"

// A neutral NCCL: every rank finds what it would find if all others had its own values. Nothing
// is sent, and nobody waits for anybody.
namespace memreplay::gpu {
namespace {

struct Communicator {
  int ranks;
  int rank;
  int device;
};

struct Id {
  char bytes[128];
};

constexpr Status kCudaFailed = 1;  // ncclResult_t has numbers of its own

std::size_t bytes_of(std::size_t count, int type) {
  constexpr std::size_t kSizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};  // ncclDataType_t
  return count * (type >= 0 && type < 12 ? kSizes[type] : 1);
}

Status create(Handle* communicator, int ranks, int rank) {
  *communicator = new Communicator{ranks, rank, current_device()};
  return kSuccess;
}

/// Channels and buffers come with the first collective, not with the communicator: vLLM, which
/// counts what its profile takes, sees 0.41 GiB of them there.
Status begin_work() {
  work_was_launched();
  return machine().load(CardLibrary::nccl) == kSuccess ? kSuccess : kCudaFailed;
}

const Communicator& as_communicator(Handle handle) {
  return *static_cast<const Communicator*>(handle);
}

Status moved(void* to, const void* from, std::size_t size) {
  if (const Status status = begin_work(); status != kSuccess) return status;
  if (to != from) copy(to, from, size);
  return kSuccess;
}

/// Broadcasts between ncclGroupStart and ncclGroupEnd. PyTorch gathers so, one of each rank.
struct Group {
  struct Part {
    void* at;
    std::size_t size;
  };
  int depth = 0;
  const void* own = nullptr;
  std::size_t own_size = 0;
  std::vector<Part> of_others;
};

thread_local Group group;

/// What the others send is what this rank sends.
void end_group() {
  for (const Group::Part& part : group.of_others) {
    if (group.own && part.size == group.own_size) moved(part.at, group.own, part.size);
  }
  group = {};
}

}  // namespace
}  // namespace memreplay::gpu

using namespace memreplay::gpu;

#pragma GCC visibility push(default)
extern "C" {

Status ncclGetVersion(int* version) {
  *version = nccl_version();
  return kSuccess;
}

Status ncclGetUniqueId(Id* id) {
  *id = {};
  return kSuccess;
}

Status ncclCommInitRank(Handle* communicator, int ranks, Id, int rank) {
  return create(communicator, ranks, rank);
}

Status ncclCommInitRankConfig(Handle* communicator, int ranks, Id, int rank, void*) {
  return create(communicator, ranks, rank);
}

Status ncclCommInitRankScalable(Handle* communicator, int ranks, int rank, int, Id*, void*) {
  return create(communicator, ranks, rank);
}

Status ncclCommInitAll(Handle* communicators, int count, const int*) {
  for (int rank = 0; rank < count; ++rank) create(&communicators[rank], count, rank);
  return kSuccess;
}

Status ncclCommSplit(Handle communicator, int, int, Handle* split, void*) {
  const Communicator& whole = as_communicator(communicator);
  return create(split, whole.ranks, whole.rank);
}

Status ncclCommDestroy(Handle communicator) {
  delete static_cast<Communicator*>(communicator);
  return kSuccess;
}

Status ncclCommAbort(Handle communicator) { return ncclCommDestroy(communicator); }

Status ncclCommCount(Handle communicator, int* count) {
  *count = as_communicator(communicator).ranks;
  return kSuccess;
}

Status ncclCommUserRank(Handle communicator, int* rank) {
  *rank = as_communicator(communicator).rank;
  return kSuccess;
}

Status ncclCommCuDevice(Handle communicator, int* device) {
  *device = as_communicator(communicator).device;
  return kSuccess;
}

Status ncclCommGetAsyncError(Handle, Status* error) {
  *error = kSuccess;
  return kSuccess;
}

const char* ncclGetErrorString(Status) { return "error of the virtual GPU"; }
const char* ncclGetLastError(Handle) { return ""; }

Status ncclAllReduce(const void* send, void* receive, std::size_t count, int type, int, Handle,
                     Stream) {
  return moved(receive, send, bytes_of(count, type));
}

Status ncclReduce(const void* send, void* receive, std::size_t count, int type, int, int root,
                  Handle communicator, Stream) {
  const bool receives = as_communicator(communicator).rank == root;
  return receives ? moved(receive, send, bytes_of(count, type)) : begin_work();
}

Status ncclGroupStart() {
  ++group.depth;
  return kSuccess;
}

Status ncclGroupEnd() {
  if (group.depth > 0 && --group.depth == 0) end_group();
  return kSuccess;
}

Status ncclBroadcast(const void* send, void* receive, std::size_t count, int type, int root,
                     Handle communicator, Stream) {
  const std::size_t size = bytes_of(count, type);
  if (as_communicator(communicator).rank == root) {
    group.own = send;
    group.own_size = size;
  } else if (group.depth > 0) {
    group.of_others.push_back({receive, size});
    return kSuccess;
  }
  return moved(receive, send, size);
}

Status ncclBcast(void*, std::size_t, int, int, Handle, Stream) { return begin_work(); }

Status ncclAllGather(const void* send, void* receive, std::size_t count, int type,
                     Handle communicator, Stream) {
  const std::size_t size = bytes_of(count, type);
  const auto ranks = static_cast<std::size_t>(as_communicator(communicator).ranks);
  Status status = kSuccess;
  for (std::size_t rank = 0; rank < ranks && status == kSuccess; ++rank) {
    status = moved(static_cast<char*>(receive) + rank * size, send, size);
  }
  return status;
}

Status ncclReduceScatter(const void* send, void* receive, std::size_t count, int type, int,
                         Handle communicator, Stream) {
  const std::size_t size = bytes_of(count, type);
  const auto rank = static_cast<std::size_t>(as_communicator(communicator).rank);
  return moved(receive, static_cast<const char*>(send) + rank * size, size);
}

Status ncclSend(const void*, std::size_t, int, int, Handle, Stream) { return begin_work(); }

Status ncclRecv(void* to, std::size_t count, int type, int, Handle, Stream) {
  const Status status = begin_work();
  if (status == kSuccess) set(to, 0, bytes_of(count, type));
  return status;
}

}  // extern "C"
#pragma GCC visibility pop
