// allocating WHAT: a program with a known number of requests, of sizes that nothing else asks for.
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kSize = 1009;
constexpr int kThreads = 4;
constexpr int kBlocks = 20'000;

/// Hides from the compiler that nobody reads it.
template <typename Value>
Value use(Value value) {
  asm volatile("" : "+r"(value) : : "memory");
  return value;
}

/// Hands every block to another thread, which frees it: places go round between the threads.
void hand_round(std::array<std::atomic<void*>, kThreads>& hands, int thread) {
  for (int i = 0; i < kBlocks; ++i) {
    void* mine = std::malloc(kSize);
    if (i % 3 == 0) mine = std::realloc(mine, kSize + 1);
    std::free(hands[static_cast<std::size_t>(thread + i) % kThreads].exchange(mine));
  }
}

void threads() {
  std::array<std::atomic<void*>, kThreads> hands{};
  std::vector<std::jthread> all;
  all.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) all.emplace_back([&, i] { hand_round(hands, i); });
  all.clear();
  for (auto& hand : hands) std::free(hand);
}

/// Many short threads, one after the other.
void short_threads() {
  for (int i = 0; i < 500; ++i) std::thread([] { std::free(use(std::malloc(kSize))); }).join();
}

void plain_forms() {
  void* block = nullptr;
  std::free(use(std::malloc(kSize)));
  std::free(use(std::calloc(1, kSize)));
  std::free(use(reallocarray(nullptr, 1, kSize)));
  std::free(std::realloc(use(std::realloc(nullptr, kSize)), kSize + 1));
  std::free(use(std::aligned_alloc(64, kSize)));
  if (posix_memalign(&block, 128, kSize) == 0) std::free(block);
  std::free(use(memalign(256, kSize)));
  std::free(use(valloc(kSize)));
  std::free(use(pvalloc(kSize)));
}

void operators() {
  constexpr std::align_val_t kAlign{512};
  ::operator delete(use(::operator new(kSize)));
  ::operator delete(use(::operator new(kSize)), kSize);
  ::operator delete[](use(::operator new[](kSize)));
  ::operator delete[](use(::operator new[](kSize)), kSize);
  ::operator delete(use(::operator new(kSize, std::nothrow)), std::nothrow);
  ::operator delete(use(::operator new(kSize, kAlign)), kAlign);
  ::operator delete(use(::operator new(kSize, kAlign)), kSize, kAlign);
  ::operator delete[](use(::operator new[](kSize, kAlign)), kSize, kAlign);
}

void refused() {
  void* block = std::malloc(kSize);
  const std::size_t too_much = PTRDIFF_MAX;
  use(std::malloc(use(too_much)));
  use(std::calloc(use(std::size_t{SIZE_MAX}), 2));
  use(reallocarray(nullptr, use(std::size_t{SIZE_MAX}), 2));
  void* const kept = std::realloc(use(block), use(too_much));
  std::free(kept == nullptr ? block : kept);
}

void some(int count) {
  for (int i = 0; i < count; ++i) use(std::malloc(kSize));
}

/// What operator new throws is caught, and what follows is recorded.
int bad_alloc() {
  try {
    use(::operator new(use(std::size_t{PTRDIFF_MAX})));
  } catch (const std::bad_alloc&) {
    some(7);
    return 0;
  }
  return 1;
}

/// The child frees what it has of its parent.
void forked() {
  std::array<void*, 10> before{};
  for (void*& block : before) block = std::malloc(kSize);
  std::thread other([] { some(100); });
  const pid_t child = fork();
  for (void* block : before) std::free(block);
  if (child == 0) {
    some(5);
    const pid_t grandchild = fork();
    if (grandchild == 0) some(3);
    if (grandchild == 0) _exit(0);
    waitpid(grandchild, nullptr, 0);
    _exit(0);
  }
  other.join();
  waitpid(child, nullptr, 0);
}

/// Closes all files that it did not open itself, as daemons do, and works on.
void close_all() {
  some(10);
  for (int file = 3; file < 1024; ++file) close(file);
  some(10'000);
}

/// Leaves no descriptor to open anything with.
void take_all_files() {
  constexpr rlimit kFew{64, 64};
  setrlimit(RLIMIT_NOFILE, &kFew);
  while (open("/dev/null", O_RDONLY) >= 0) {
  }
}

void in_a_child(int blocks) {
  const pid_t child = fork();
  if (child == 0) some(blocks);
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
}

/// The child frees what another thread, which is asleep, allocated long after the last call of the
/// one that forks.
void fork_after_another() {
  std::array<void*, 10> blocks{};
  std::atomic<bool> has_allocated = false;
  std::atomic<bool> is_over = false;
  std::jthread other([&] {
    for (void*& block : blocks) block = std::malloc(kSize);
    has_allocated = true;
    has_allocated.notify_one();
    is_over.wait(false);
  });
  has_allocated.wait(false);
  const pid_t child = fork();
  if (child == 0) {
    for (void* block : blocks) std::free(block);
    some(5);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  is_over = true;
  is_over.notify_one();
}

/// More threads at once than have a place of their own for their last order.
void many_threads() {
  std::atomic<int> waiting = 0;
  std::vector<std::jthread> all;
  for (int i = 0; i < 300; ++i) {
    all.emplace_back([&] {
      waiting += 1;
      while (waiting < 300) std::this_thread::yield();
      for (int block = 0; block < 20; ++block) std::free(use(std::malloc(kSize)));
    });
  }
}

/// Many blocks are allocated and freed before the fork, few after it.
void fork_late() {
  std::vector<void*> before(20'000);
  for (void*& block : before) block = std::malloc(kSize);
  for (void* block : before) std::free(block);
  in_a_child(3);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view what = count > 1 ? arguments[1] : "";
  if (what == "threads") threads();
  if (what == "short-threads") short_threads();
  if (what == "plain-forms") plain_forms();
  if (what == "operators") operators();
  if (what == "refused") refused();
  if (what == "fork") forked();
  if (what == "fork-after-another") fork_after_another();
  if (what == "many-threads") many_threads();
  if (what == "close-all") close_all();
  if (what == "no-files") some(10), take_all_files(), some(10'000);
  if (what == "fork-without-files") some(10), take_all_files(), in_a_child(5);
  if (what == "fork-late") fork_late();
  if (what == "chroot") return some(10), chroot("/dev") == 0 ? some(10'000), 0 : 1;
  if (what == "some") some(7);
  if (what == "exit-at-once") some(1000), _exit(0);
  if (what == "abort") some(1000), abort();
  if (what == "kill") some(1000), raise(SIGKILL);
  if (what == "bad-alloc") return bad_alloc();
  if (what == "exec") {
    some(11);
    execl("/proc/self/exe", arguments[0], "some", nullptr);
  }
  return 0;
}
