#include "shared_cards.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

namespace memreplay::gpu {
namespace {

constexpr std::size_t kMostProcesses = 1024;  // at once

/// The byte of a slot in the file. The slot's process holds a lock on it, which ends with the
/// process, or when it becomes another program.
struct flock byte_of(std::size_t slot) {
  struct flock byte {};
  byte.l_type = F_WRLCK;
  byte.l_whence = SEEK_SET;
  byte.l_start = static_cast<off_t>(slot);
  byte.l_len = 1;
  return byte;
}

}  // namespace

struct SharedCards::Slot {
  std::atomic<pid_t> process;  ///< 0: nobody's, or that of one whose end has been seen
  std::array<std::atomic<Bytes>, kMostCards> used;

  void clear(pid_t next) {
    for (auto& bytes : used) bytes = 0;
    process = next;
  }
};

/// Whoever reads or writes it holds `mutex`, but for a process that gives back what is its own.
struct SharedCards::Table {
  pthread_mutex_t mutex;
  std::size_t slots = 0;  ///< that were ever taken
  std::array<Slot, kMostProcesses> all{};

  Table() {
    pthread_mutexattr_t shared;
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &shared);
    pthread_mutexattr_destroy(&shared);
  }
};

/// A process that is killed while it holds the mutex leaves a count that is right: every change is
/// one word.
class SharedCards::Lock {
 public:
  explicit Lock(Table& table) : mutex_(table.mutex) {
    if (pthread_mutex_lock(&mutex_) == EOWNERDEAD) pthread_mutex_consistent(&mutex_);
  }
  ~Lock() { pthread_mutex_unlock(&mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

SharedCards::SharedCards() { create(); }

SharedCards::SharedCards(const char* path) {
  file_ = ::open(path, O_RDWR | O_CLOEXEC);
  struct stat about {};
  if (file_ >= 0 && ::fstat(file_, &about) == 0 && about.st_size == sizeof(Table)) {
    void* const at = ::mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (at != MAP_FAILED) table_ = static_cast<Table*>(at);
  }
  if (table_) return;
  std::fprintf(stderr,
               "memreplay: %s cannot be opened; this process has a virtual GPU of its own\n", path);
  if (file_ >= 0) ::close(file_);
  create();
}

SharedCards::~SharedCards() {
  ::munmap(table_, sizeof(Table));
  ::close(file_);
}

/// Memory without a name: it ends with those who have it, and no disk is full for it.
void SharedCards::create() {
  file_ = ::memfd_create("memreplay-cards", MFD_CLOEXEC);
  if (file_ >= 0 && ::ftruncate(file_, sizeof(Table)) != 0) {
    ::close(file_);
    file_ = -1;
  }
  const int flags = file_ >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  void* const at = ::mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, flags, file_, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  table_ = new (at) Table;
}

std::string SharedCards::path() const {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file_);
}

/// Takes the lowest slot that no living process has; false when there is none.
bool SharedCards::take_slot() {
  for (std::size_t slot = 0; slot < kMostProcesses; ++slot) {
    struct flock byte = byte_of(slot);
    if (file_ >= 0 && ::fcntl(file_, F_SETLK, &byte) != 0) continue;
    own_ = &table_->all[slot];
    own_->clear(::getpid());
    table_->slots = std::max(table_->slots, slot + 1);
    return true;
  }
  return false;
}

/// Gives back what processes had that are no more.
void SharedCards::sweep() {
  for (std::size_t slot = 0; slot < table_->slots; ++slot) {
    Slot& one = table_->all[slot];
    if (one.process == 0 || &one == own_) continue;
    struct flock byte = byte_of(slot);
    if (::fcntl(file_, F_GETLK, &byte) == 0 && byte.l_type == F_UNLCK) one.clear(0);
  }
}

Bytes SharedCards::sum(std::size_t card) const {
  Bytes all = 0;
  for (std::size_t slot = 0; slot < table_->slots; ++slot) all += table_->all[slot].used[card];
  return all;
}

bool SharedCards::charge(std::size_t card, Bytes size, Bytes capacity) {
  const Lock lock(*table_);
  const auto has_room = [&] {
    const Bytes used = sum(card);
    return used <= capacity && size <= capacity - used;
  };
  if (!own_ && !take_slot()) return false;
  if (!has_room()) {
    sweep();
    if (!has_room()) return false;
  }
  own_->used[card] += size;
  return true;
}

void SharedCards::discharge(std::size_t card, Bytes size) {
  if (own_) own_->used[card] -= size;
}

Bytes SharedCards::used(std::size_t card) {
  const Lock lock(*table_);
  sweep();
  return sum(card);
}

std::vector<CardUse> SharedCards::uses(std::size_t card) {
  const Lock lock(*table_);
  sweep();
  std::vector<CardUse> all;
  for (std::size_t slot = 0; slot < table_->slots; ++slot) {
    const Slot& one = table_->all[slot];
    if (one.used[card] != 0) all.push_back({one.process, one.used[card]});
  }
  return all;
}

}  // namespace memreplay::gpu
