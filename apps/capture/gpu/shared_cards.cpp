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
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <utility>

namespace memreplay::gpu {
namespace {

constexpr std::size_t kMostProcesses = 1024;  // at once

/// Where a program lies in memory. Without randomised addresses two may lie alike; their stacks
/// begin alike only where arguments and environment are as long. Zeros: not known.
using Image = std::array<std::uint64_t, 3>;

struct Process {
  bool is_there = true;       ///< also where nobody could tell
  std::uint64_t started = 0;  ///< ticks since the system's start; 0: not known
  Image image{};
};

/// Reads /proc/PID/stat: "4711 (name) S 1 …", where the name may hold anything.
Process process_of(pid_t id) {
  constexpr std::size_t kState = 3, kThreads = 20, kStarted = 22, kCode = 26;
  char text[1024];
  std::snprintf(text, sizeof text, "/proc/%d/stat", static_cast<int>(id));
  const int file = ::open(text, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {.is_there = errno != ENOENT};
  const ssize_t size = ::read(file, text, sizeof text - 1);
  const int error = errno;
  ::close(file);
  if (size < 0) return {.is_there = error != ESRCH};
  text[size] = '\0';
  const char* at = std::strrchr(text, ')');
  if (!at) return {};
  std::array<std::uint64_t, kCode + 3> fields{};
  const char state = at[1] == '\0' ? ' ' : at[2];
  std::size_t field = kState - 1;
  while (++field < fields.size() && (at = std::strchr(at + 1, ' '))) {
    fields[field] = std::strtoull(at + 1, nullptr, 10);
  }
  Process process{.started = fields[kStarted],
                  .image = {fields[kCode], fields[kCode + 1], fields[kCode + 2]}};
  // A thread that ends leaves the others, the first one too.
  process.is_there = (state != 'Z' && state != 'X') || fields[kThreads] > 1;
  const bool is_secret = process.image[0] <= 1;  // from other users, or its first thread has ended
  if (is_secret) process.image = {};
  return process;
}

bool differs(std::uint64_t one, std::uint64_t other) { return one && other && one != other; }

}  // namespace

struct SharedCards::Slot {
  std::atomic<pid_t> process;  ///< 0: nobody's, or that of one whose end has been seen
  std::uint64_t started = 0;
  Image image{};
  std::array<std::atomic<Bytes>, kMostCards> used;

  void clear() {
    process = 0;
    for (auto& bytes : used) bytes = 0;
  }
  void give_to(pid_t next) {
    const Process about = process_of(next);
    clear();
    started = about.started;
    image = about.image;
    process = next;
  }
  /// Whoever has it lives and is the same program.
  bool is_held() const {
    if (process == 0) return false;
    const Process now = process_of(process);
    return now.is_there && !differs(now.started, started) &&
           std::ranges::equal(now.image, image, std::not_fn(differs));
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
  if (file_ >= 0) ::close(std::exchange(file_, -1));  // the program may want all descriptors
  if (table_) return;
  std::fprintf(stderr,
               "memreplay: %s cannot be opened; this process has a virtual GPU of its own\n", path);
  create();
}

SharedCards::~SharedCards() {
  ::munmap(table_, sizeof(Table));
  if (file_ >= 0) ::close(file_);
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

/// Takes the lowest slot that no living process has; false when there is none. What this process
/// had before was another program's.
bool SharedCards::take_slot() {
  const pid_t self = ::getpid();
  for (std::size_t slot = 0; slot < table_->slots; ++slot) {
    if (table_->all[slot].process == self) table_->all[slot].clear();
  }
  const auto is_free = [](const Slot& slot) { return slot.process == 0; };
  auto found = std::ranges::find_if(table_->all, is_free);
  if (found == table_->all.end()) {
    sweep();
    found = std::ranges::find_if(table_->all, is_free);
  }
  if (found == table_->all.end()) return false;
  found->give_to(self);
  own_ = &*found;
  table_->slots = std::max<std::size_t>(table_->slots, found - table_->all.begin() + 1);
  return true;
}

/// Gives back what processes had that are no more.
void SharedCards::sweep() {
  for (std::size_t slot = 0; slot < table_->slots; ++slot) {
    Slot& one = table_->all[slot];
    if (one.process != 0 && &one != own_ && !one.is_held()) one.clear();
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
