#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>

namespace memreplay::gpu {

/// A forked process that has done something, and then does something else until this object ends.
class OtherProcess {
 public:
  explicit OtherProcess(
      const std::function<void()>& first, const std::function<void()>& then = [] { ::pause(); }) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return;
    process_ = ::fork();
    if (process_ == 0) {
      first();
      [[maybe_unused]] const auto written = ::write(pipe[1], "x", 1);
      for (;;) then();
    }
    ::close(pipe[1]);
    pipe_ = pipe[0];
    read_byte();
  }
  ~OtherProcess() {
    kill();
    ::waitpid(process_, nullptr, 0);
    ::close(pipe_);
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  pid_t id() const { return process_; }
  /// It is gone when this returns, and nobody has waited for it.
  void kill() const {
    ::kill(process_, SIGKILL);
    siginfo_t about{};
    ::waitid(P_PID, static_cast<id_t>(process_), &about, WEXITED | WNOWAIT);
  }
  /// Returns when it runs another program instead.
  void wait_for_exec() const { read_byte(); }

 private:
  void read_byte() const {
    char byte = 0;
    [[maybe_unused]] const auto read = ::read(pipe_, &byte, 1);
  }

  pid_t process_ = -1;
  int pipe_ = -1;
};

}  // namespace memreplay::gpu
