// Every system call of a kind that may go wrong is brought to a handler by the kernel (seccomp),
// whoever makes it: the program, the C++ library or the C library itself.
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "fault.hpp"

// The one place whose calls are let through.
asm(R"(
  .text
  .globl memreplay_untrapped
  .globl memreplay_untrapped_end
  .type memreplay_untrapped, @function
memreplay_untrapped:
  mov %rdi, %rax
  mov %rsi, %rdi
  mov %rdx, %rsi
  mov %rcx, %rdx
  mov %r8, %r10
  mov %r9, %r8
  mov 8(%rsp), %r9
  syscall
memreplay_untrapped_end:
  ret
)");

extern "C" long memreplay_untrapped(long number, long, long, long, long, long, long);
extern "C" const char memreplay_untrapped_end[];

namespace memreplay::faults {
namespace {

struct Call {
  long number;
  long arguments[6];

  long make() const {
    const long(&a)[6] = arguments;
    return memreplay_untrapped(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  }
};

// What /proc and /sys show stands on no disk and behind no network.
bool is_of_the_kernel(long path) {
  const std::string_view text(reinterpret_cast<const char*>(path));
  return text.starts_with("/proc/") || text.starts_with("/sys/");
}

Kind kind_of(const Call& call) {
  switch (call.number) {
    case SYS_open:
      return is_of_the_kernel(call.arguments[0]) ? Kind::none : Kind::open;
    case SYS_openat:
      return is_of_the_kernel(call.arguments[1]) ? Kind::none : Kind::open;
    case SYS_read:
      return Kind::read;
    case SYS_write:
    case SYS_writev:
      return call.arguments[0] == STDERR_FILENO ? Kind::none : Kind::write;
    case SYS_rename:
    case SYS_renameat2:
    case SYS_linkat:
      return Kind::link;
    case SYS_fstat:
    case SYS_stat:
    case SYS_newfstatat:
      return Kind::stat;
    case SYS_mmap:
      return Kind::mmap;
    case SYS_fsync:
      return Kind::fsync;
    case SYS_close:
      return Kind::close;
    default:
      return Kind::none;
  }
}

// Writes the first of several pieces, or half of it.
long write_at_most(Call call, std::size_t limit) {
  if (call.number == SYS_writev) {
    const auto* piece = reinterpret_cast<const iovec*>(call.arguments[1]);
    const auto* last = piece + call.arguments[2] - 1;
    while (piece != last && piece->iov_len == 0) ++piece;
    call = {SYS_write,
            {call.arguments[0], reinterpret_cast<long>(piece->iov_base),
             static_cast<long>(piece->iov_len)}};
  }
  call.arguments[2] = static_cast<long>(std::min<std::size_t>(call.arguments[2], limit));
  return call.make();
}

long part_of(const Call& call) {
  const bool pieces = call.number == SYS_writev;
  const auto size = static_cast<std::size_t>(
      pieces ? static_cast<long>(reinterpret_cast<const iovec*>(call.arguments[1])->iov_len)
             : call.arguments[2]);
  return write_at_most(call, size > 1 ? size / 2 : size);
}

// A disk with room for so many bytes, for all files together.
long write_to_full_disk(const Call& call) {
  static std::atomic<std::uint64_t> written{0};
  const std::uint64_t before = written.load();
  if (before >= fault.number) return -ENOSPC;
  const long count = write_at_most(call, fault.number - before);
  if (count > 0) written += static_cast<std::uint64_t>(count);
  return count;
}

long go_wrong(const Call& call) {
  if (fault.what == What::part) return part_of(call);
  if (fault.what == What::signal) {
    memreplay_untrapped(SYS_kill, getpid(), fault.value, 0, 0, 0, 0);
    return call.make();
  }
  // A close that is interrupted, or tells of an earlier failure, has closed all the same.
  if (call.number == SYS_close) call.make();
  return -fault.value;
}

// Cuts the file under a mapping that is to be read.
void shrink(const Call& call) {
  char name[] = "/proc/self/fd/0000000000";
  char* digit = std::end(name) - 1;
  for (long number = call.arguments[4], i = 0; i < 10; ++i, number /= 10) {
    *--digit = static_cast<char>('0' + number % 10);
  }
  while (*digit == '0' && digit[1] != '\0') {
    std::copy(digit + 1, std::end(name), digit);
  }
  const long file = memreplay_untrapped(SYS_openat, AT_FDCWD, reinterpret_cast<long>(name),
                                        O_WRONLY | O_CLOEXEC, 0, 0, 0);
  memreplay_untrapped(SYS_ftruncate, file, fault.value, 0, 0, 0, 0);
  memreplay_untrapped(SYS_close, file, 0, 0, 0, 0, 0);
}

long answer(const Call& call) {
  const Kind kind = kind_of(call);
  if (kind == Kind::none) return call.make();
  if (fault.named && call.number == SYS_openat && (call.arguments[2] & O_TMPFILE) == O_TMPFILE) {
    return -EOPNOTSUPP;
  }
  if (fault.what == What::full && kind == Kind::write) return write_to_full_disk(call);
  if (fault.what == What::shrink && kind == Kind::mmap && call.arguments[4] >= 0 &&
      (call.arguments[2] & PROT_EXEC) == 0) {
    if (!is_due(kind)) return call.make();
    const long mapping = call.make();
    if (call.arguments[1] > fault.value) shrink(call);
    return mapping;
  }
  return is_due(kind) ? go_wrong(call) : call.make();
}

void on_call(int, siginfo_t*, void* context) {
  greg_t(&r)[NGREG] = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  r[REG_RAX] =
      answer({r[REG_RAX], {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]}});
}

void trap(const long (&numbers)[14]) {
  const auto place = reinterpret_cast<std::uint64_t>(memreplay_untrapped_end);
  sock_filter filter[32] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, instruction_pointer)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(place), 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, instruction_pointer) + 4),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(place >> 32), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  std::uint16_t used = 6;
  const auto count = static_cast<std::uint16_t>(std::size(numbers));
  for (std::uint16_t i = 0; i < count; ++i) {
    filter[used++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(numbers[i]),
                              static_cast<std::uint8_t>(count - i), 0);
  }
  filter[used++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  filter[used++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  const sock_fprog program{used, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    std::abort();
  }
}

[[gnu::constructor(102)]] void watch() {
  struct sigaction action {};
  action.sa_sigaction = on_call;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
  sigaction(SIGSYS, &action, nullptr);
  trap({SYS_open, SYS_openat, SYS_read, SYS_write, SYS_writev, SYS_rename, SYS_renameat2,
        SYS_linkat, SYS_fstat, SYS_stat, SYS_newfstatat, SYS_mmap, SYS_fsync, SYS_close});
}

}  // namespace
}  // namespace memreplay::faults
