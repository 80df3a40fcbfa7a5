#include "spool/recorder.hpp"

#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>

/// The system's calls without the C library around them, where that could allocate or be cancelled.
/// Failures are -1 and errno.

namespace memreplay::capture {
namespace {

struct Wanted {
  const char* begins;
  char path[4096] = {};
};

int note_path(dl_phdr_info* about, std::size_t, void* data) {
  auto& wanted = *static_cast<Wanted*>(data);
  const char* const slash = std::strrchr(about->dlpi_name, '/');
  const char* const name = slash == nullptr ? about->dlpi_name : slash + 1;
  const bool found = std::strncmp(name, wanted.begins, std::strlen(wanted.begins)) == 0 &&
                     std::strlen(about->dlpi_name) < sizeof wanted.path;
  if (found) std::strcpy(wanted.path, about->dlpi_name);
  return found;
}

int open_file(const char* path, int flags);
void close_file(int file);
/// False where not all was written.
bool write_at(int file, const void* bytes, std::size_t count, std::uint64_t at);
/// What fits of a file, as /proc has them; 0 where there is none.
std::size_t read_file(const char* path, char* bytes, std::size_t room);
/// Makes the file longer by at most kMostExtension, with room on the disk: a mapped page of it can
/// be written.
inline constexpr std::uint64_t kMostExtension = 1 << 20;
bool extend_file(int file, std::uint64_t from, std::uint64_t bytes);
/// The value of a variable, also before the C library has its environment. False where it is not
/// set or does not fit.
bool find_variable(const char* name, char* value, std::size_t room);
void make_absolute(char* path, std::size_t room);
/// One line on standard error, after "memreplay: ".
void complain(const char* what, const char* path, int error);

/// Goes through the variables of this process as they were when it began.
class FirstVariables {
 public:
  FirstVariables() : file_(open_file("/proc/self/environ", O_RDONLY | O_CLOEXEC)) {}
  ~FirstVariables() {
    if (file_ >= 0) close_file(file_);
  }

  int next() {
    if (at_ == filled_) {
      filled_ = file_ < 0 ? 0 : syscall(SYS_read, file_, buffer_, sizeof buffer_);
      at_ = 0;
      if (filled_ <= 0) return filled_ = 0, -1;
    }
    return static_cast<unsigned char>(buffer_[at_++]);
  }

 private:
  int file_;
  long filled_ = 0;
  long at_ = 0;
  char buffer_[1024];
};

bool find_first_variable(const char* name, char* value, std::size_t room) {
  FirstVariables variables;
  for (int letter = variables.next(); letter >= 0; letter = variables.next()) {
    const char* expected = name;
    while (letter > 0 && letter == *expected) {
      ++expected;
      letter = variables.next();
    }
    const bool found = letter == '=' && *expected == '\0';
    std::size_t length = 0;
    while (letter > 0) {
      letter = variables.next();
      if (length < room) value[length++] = letter > 0 ? static_cast<char>(letter) : '\0';
    }
    if (found) return length > 0 && value[length - 1] == '\0';
  }
  return false;
}

const char* name_of(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "no space left on the device";
    case EACCES:
    case EPERM:
      return "permission denied";
    case ENOENT:
      return "no such folder";
    case ENAMETOOLONG:
      return "the path is too long";
    case EROFS:
      return "the file system is read-only";
    case EFBIG:
      return "above the limit of a file's size";
    case EMFILE:
    case ENFILE:
      return "too many open files";
    case ENOMEM:
      return "no memory";
    default:
      return "the system refuses";
  }
}

int open_file(const char* path, int flags) {
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, 0666));
}

void close_file(int file) { syscall(SYS_close, file); }

bool write_at(int file, const void* bytes, std::size_t count, std::uint64_t at) {
  const auto* from = static_cast<const char*>(bytes);
  while (count > 0) {
    // What a full disk has room for is written first; the rest then says why it is not.
    const long written = syscall(SYS_pwrite64, file, from, count, at);
    if (written < 0) return false;
    if (written == 0) {
      errno = ENOSPC;
      return false;
    }
    from += written;
    at += static_cast<std::uint64_t>(written);
    count -= static_cast<std::size_t>(written);
  }
  return true;
}

std::size_t read_file(const char* path, char* bytes, std::size_t room) {
  const int file = open_file(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const long read = syscall(SYS_read, file, bytes, room);
  close_file(file);
  return read < 0 ? 0 : static_cast<std::size_t>(read);
}

bool extend_file(int file, std::uint64_t from, std::uint64_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && from + bytes > limit.rlim_cur) {
    errno = EFBIG;  // the system would end the program
    return false;
  }
  // Written, not promised: the page cache takes large pieces at once, a third of the time.
  static char zeros[kMostExtension];
  return bytes <= sizeof zeros && write_at(file, zeros, bytes, from);
}

bool find_variable(const char* name, char* value, std::size_t room) {
  if (environ == nullptr) return find_first_variable(name, value, room);
  const std::size_t length = std::strlen(name);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::strncmp(*variable, name, length) != 0 || (*variable)[length] != '=') continue;
    const char* found = *variable + length + 1;
    if (std::strlen(found) >= room) return false;
    std::strcpy(value, found);
    return true;
  }
  return false;
}

void make_absolute(char* path, std::size_t room) {
  if (path[0] == '/') return;
  char whole[4096];
  if (syscall(SYS_getcwd, whole, sizeof whole) < 0) return;
  const std::size_t folder = std::strlen(whole);
  if (folder + 1 + std::strlen(path) >= std::min(room, sizeof whole)) return;
  whole[folder] = '/';
  std::strcpy(whole + folder + 1, path);
  std::strcpy(path, whole);
}

void complain(const char* what, const char* path, int error) {
  char line[4600];
  std::snprintf(line, sizeof line, "memreplay: %s: %s: %s; the program goes on unrecorded\n", path,
                what, name_of(error));
  syscall(SYS_write, STDERR_FILENO, line, std::strlen(line));
}

constinit Life before_the_first{.number = UINT32_MAX};

// Copied by a fork, not emptied.
constinit std::uint32_t lives = 0;
char folder[4096];
char file_path[4096 + 64];
SpoolHead* latest_head = nullptr;  // this process's, or that of the one it was forked from

constexpr std::uint64_t kFirstChunk = 4 * kSpoolPageBytes;
constexpr std::uint64_t kLargestChunk = kMostExtension;

constexpr std::size_t kOwnSeats = 192;
constexpr std::size_t kSeats = 256;
constinit Seat seats[kSeats];
constinit std::size_t seats_given = 0;

/// Apart from all that threads only read.
struct alignas(128) LastOrder {
  std::atomic<std::uint64_t> number;
};
constinit LastOrder last_order{0};

class Locked {
 public:
  explicit Locked(std::atomic<bool>& lock) : lock_(lock) {
    // Asleep, so that a thread of higher priority lets the one that it waits for go on.
    constexpr timespec kAMoment{0, 20'000};
    while (lock_.exchange(true, std::memory_order_acquire)) {
      syscall(SYS_nanosleep, &kAMoment, nullptr);
    }
  }
  ~Locked() { lock_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool>& lock_;
};

/// Ends the recording, and only that. The file says so by its mapped head: a process without
/// descriptors, or in another root, could not open it any more. One that has no file is counted in
/// the file of the process which forked it.
bool give_up(const char* what, int error) {
  recording_is_off = true;
  if (error == 0) return false;
  complain(what, file_path, error);
  if (SpoolHead* const own = life.load()->head) {
    own->stopped_by = static_cast<std::uint32_t>(error);
  } else if (latest_head != nullptr) {
    std::atomic_ref(latest_head->unrecorded_forks).fetch_add(1);
  }
  return false;
}

/// The page that every child finds empty.
Life* own_life() {
  Life* current = life.load(std::memory_order_acquire);
  if (current != &before_the_first) return current;
  void* const page =
      mmap(nullptr, kSpoolPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED || madvise(page, kSpoolPageBytes, MADV_WIPEONFORK) != 0) return nullptr;
  if (life.compare_exchange_strong(current, static_cast<Life*>(page))) {
    return static_cast<Life*>(page);
  }
  munmap(page, kSpoolPageBytes);
  return current;
}

/// FOLDER/PROCESS.RECORDER.spool; a process that executes another program has a further one, with
/// -2, -3, ... after the process.
void name_file(std::uint32_t process, int attempt) {
  char again[16] = "";
  if (attempt > 1) std::snprintf(again, sizeof again, "-%d", attempt);
  std::snprintf(file_path, sizeof file_path, "%s/%u%s.%s%s", folder, process, again, kRecorder.name,
                kSpoolSuffix);
}

std::int64_t now_ns(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::uint64_t processor_ticks() {
#ifdef __x86_64__
  return __builtin_ia32_rdtsc();
#else
  return 0;
#endif
}

/// An order and its time.
struct Moment {
  std::uint64_t order;
  std::int64_t time_ns;
};

Moment moment() {
  constexpr std::uint64_t kAtOnce = 1000;
  constexpr int kAttempts = 5;
  if (order_by == Order::counted) return {last_order.number, now_ns(CLOCK_MONOTONIC)};
  std::uint64_t before = 0;
  std::int64_t time_ns = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    before = processor_ticks();
    time_ns = now_ns(CLOCK_MONOTONIC);
    if (processor_ticks() - before < kAtOnce) break;
  }
  return {before >> kTicksLog2, time_ns};
}

/// The time, at most a microsecond old: the system's clock takes as long as an allocation.
std::int64_t time_about() {
  constexpr std::uint64_t kLittle = 1000;
  const std::uint64_t ticks = processor_ticks();
  if (ticks == 0 || ticks - cursor.ticks > kLittle) {
    cursor.time_ns = now_ns(CLOCK_MONOTONIC);
    cursor.ticks = ticks;
  }
  return cursor.time_ns;
}

/// Whether all processors' ticks count at one rate, go on in their sleep, and are what the system
/// itself takes for one clock.
bool ticks_agree() {
#ifdef __x86_64__
  constexpr unsigned kInvariant = 1 << 8;
  constexpr unsigned kOrdered = 1 << 27;
  unsigned a = 0, b = 0, c = 0, extended = 0, power = 0;
  if (__get_cpuid(0x80000001, &a, &b, &c, &extended) == 0 || (extended & kOrdered) == 0 ||
      __get_cpuid(0x80000007, &a, &b, &c, &power) == 0 || (power & kInvariant) == 0) {
    return false;
  }
  char clocks[256] = {};
  read_file("/sys/devices/system/clocksource/clocksource0/available_clocksource", clocks,
            sizeof clocks - 1);
  char asked[16] = {};
  find_variable("MEMREPLAY_SPOOL_ORDER", asked, sizeof asked);
  return std::strstr(clocks, "tsc ") != nullptr && std::strcmp(asked, "counted") != 0;
#else
  return false;
#endif
}

/// The last order of all threads.
std::uint64_t latest_order() {
  std::uint64_t latest = 0;
  for (const Seat& seat : seats) latest = std::max(latest, seat.latest.load());
  return latest;
}

constexpr std::uint64_t kFarBack = 1 << 24;

/// From after all orders that there are, and those that threads are about to write.
void count_from_now_on() {
  if (order_by == Order::counted) return;
  last_order.number = latest_order() + kFarBack;
  order_by = Order::counted;
}

/// Null where there is no file. One that stays empty says that its process was not recorded.
SpoolHead* begin_file() {
  SpoolHead head;
  std::memcpy(head.magic, kSpoolMagic, sizeof head.magic);
  head.version = kSpoolVersion;
  head.record_bytes = kRecorder.record_bytes;
  std::strcpy(head.recorder, kRecorder.name);
  head.process = static_cast<std::uint32_t>(getpid());
  head.first_order = latest_order();
  const Moment now = moment();
  head.begun_order = now.order;
  head.begun_ns = now.time_ns;
  head.begun_unix_ns = now_ns(CLOCK_REALTIME);
  if (const char* name = std::strrchr(file_path, '/')) {
    std::strncpy(head.forked_from, name + 1, sizeof head.forked_from - 1);
  }
  read_file("/proc/self/cmdline", head.command, sizeof head.command - 1);
  int file = -1;
  for (int attempt = 1; file < 0; ++attempt) {
    name_file(head.process, attempt);
    file = open_file(file_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC);
    if (file < 0 && errno != EEXIST) return give_up("cannot be made", errno), nullptr;
  }
  void* mapped = MAP_FAILED;
  if (extend_file(file, 0, kSpoolPageBytes) && write_at(file, &head, sizeof head, 0)) {
    mapped = mmap(nullptr, kSpoolPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  const int error = errno;
  close_file(file);
  if (mapped != MAP_FAILED) return static_cast<SpoolHead*>(mapped);
  give_up("cannot be written", error);
  return nullptr;
}

bool begin(Life& own) {
  if (lives == 0) {
    if (!find_variable("MEMREPLAY_SPOOL", folder, sizeof folder) || folder[0] == '\0') {
      return give_up("", 0);
    }
    make_absolute(folder, sizeof folder);
    if (!ticks_agree()) count_from_now_on();
  }
  seats_given = 0;
  if (order_by == Order::ordered_ticks) order_by = Order::ticks;
  own.head = begin_file();
  if (own.head == nullptr) return false;
  if (latest_head != nullptr) munmap(latest_head, kSpoolPageBytes);
  latest_head = own.head;
  own.file_bytes = kSpoolPageBytes;
  own.number.store(++lives, std::memory_order_release);
  return true;
}

void leave(SpoolPageHead* chunk) {
  if (--chunk->users == 0) munmap(chunk, chunk->mapped_bytes);
}

/// The file is opened anew each time: programs close what they do not know, or open theirs there.
bool map_chunk(Life& own) {
  const std::uint64_t bytes =
      std::clamp(own.file_bytes - kSpoolPageBytes, kFirstChunk, kLargestChunk);
  const int file = open_file(file_path, O_RDWR | O_CLOEXEC);
  if (file < 0) return give_up("cannot be opened", errno);
  void* chunk = MAP_FAILED;
  if (extend_file(file, own.file_bytes, bytes)) {
    chunk = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                 static_cast<off_t>(own.file_bytes));
  }
  const int error = errno;
  close_file(file);
  if (chunk == MAP_FAILED) return give_up("cannot be extended", error);
  // All at once, instead of a fault for each page; older kernels cannot.
  madvise(chunk, bytes, MADV_POPULATE_WRITE);
  own.chunk = static_cast<SpoolPageHead*>(chunk);
  own.chunk->users = 1;  // until all its pages are given
  own.chunk->mapped_bytes = bytes;
  own.pages_given = 0;
  own.file_bytes += bytes;
  return true;
}

/// Gives the calling thread, which has written nothing in this life, a place for its order.
void give_seat(Life& own) {
  const std::size_t number = seats_given++;
  cursor.shares_seat = number >= kOwnSeats;
  cursor.seat = &seats[cursor.shares_seat ? kOwnSeats + number % (kSeats - kOwnSeats) : number];
  cursor.page.order = 0;
  if (++own.threads > 1 && order_by == Order::ticks) order_by = Order::ordered_ticks;
}

bool give_page(Life& own) {
  const bool is_first = cursor.life != own.number;
  if (!is_first && cursor.chunk != nullptr) leave(cursor.chunk);
  cursor.chunk = nullptr;
  cursor.page.next = cursor.page.full = nullptr;
  if (own.chunk == nullptr && !map_chunk(own)) return false;
  if (is_first) give_seat(own);
  std::byte* const page =
      reinterpret_cast<std::byte*>(own.chunk) + own.pages_given * kSpoolPageBytes;
  auto& head = *reinterpret_cast<SpoolPageHead*>(page);
  Moment now = moment();
  if (now.order < own.head->begun_order) {
    count_from_now_on();
    now = moment();
  }
  head.order = cursor.told_order = std::max(now.order, cursor.page.order);
  head.time_ns = now.time_ns;
  std::atomic_ref(head.thread)
      .store(static_cast<std::uint32_t>(syscall(SYS_gettid)), std::memory_order_release);
  cursor.page = end_of_new_page(page, kRecorder.record_bytes);
  cursor.chunk = own.chunk;
  cursor.life = own.number;
  ++own.chunk->users;
  if (++own.pages_given * kSpoolPageBytes == own.chunk->mapped_bytes) {
    leave(own.chunk);
    own.chunk = nullptr;
  }
  return true;
}

}  // namespace

constinit thread_local Cursor cursor;
constinit std::atomic<bool> recording_is_off{false};
constinit std::atomic<Order> order_by{Order::ticks};

constinit std::atomic<Life*> life{&before_the_first};

bool turn_page() {
  const int error = errno;
  Life* const own = own_life();
  bool given = false;
  if (own == nullptr) {
    give_up("cannot be started", errno);
  } else {
    const Locked locked(own->locked);
    given = !recording_is_off && (own->number != 0 || begin(*own)) && give_page(*own);
  }
  errno = error;
  return given;
}

void tell_time() {
  const Moment now = moment();
  PageEnd& page = cursor.page;
  if (now.order < page.order) {
    if (page.order - now.order < kFarBack) return;  // another processor's, a little behind
    const int error = errno;
    const Locked locked(life.load()->locked);
    count_from_now_on();  // they began again while the machine slept
    errno = error;
    return;
  }
  const auto later_ns = static_cast<std::uint64_t>(now.time_ns - page.time_ns);
  if (now.order - page.order >= kNumbersEnd / 2 || later_ns >= kNumbersEnd / 2) {
    page.next = page.full;  // the next page's head has whole numbers
    return;
  }
  write_time(page, now.order, now.time_ns);
  cursor.told_order = now.order;
}

std::uint64_t counted_order() {
  constexpr std::int64_t kMicrosecond = 1000;
  if (time_about() - cursor.page.time_ns >= kMicrosecond) tell_time();
  return last_order.number.fetch_add(1, std::memory_order_relaxed) + 1;
}

void raise(Seat& seat, std::uint64_t order) {
  std::uint64_t latest = seat.latest.load(std::memory_order_relaxed);
  while (latest < order && !seat.latest.compare_exchange_weak(latest, order)) {
  }
}

void* loaded_library(const char* begins) {
  Wanted wanted{begins};
  if (dl_iterate_phdr(note_path, &wanted) == 0) return nullptr;
  return dlopen(wanted.path, RTLD_LAZY | RTLD_NOLOAD);
}

}  // namespace memreplay::capture
