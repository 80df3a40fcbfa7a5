#include "record/program.hpp"

#include <fcntl.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "core/error.hpp"

namespace memreplay {
namespace {

volatile std::sig_atomic_t child = 0;

void pass_on(int signal) {
  if (child != 0) ::kill(static_cast<pid_t>(child), signal);
}

/// While it lives, signals that would end this program go to the other one; they wait until it is
/// known which that is. The terminal sends Ctrl-C and Ctrl-\ to both.
class SignalsPassedOn {
 public:
  SignalsPassedOn() {
    sigset_t held{};
    ::sigemptyset(&held);
    for (const int signal : kSignals) ::sigaddset(&held, signal);
    ::pthread_sigmask(SIG_BLOCK, &held, &mask_before_);
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      struct sigaction action {};
      const bool from_terminal = kSignals.at(i) == SIGINT || kSignals.at(i) == SIGQUIT;
      action.sa_handler = from_terminal ? SIG_IGN : pass_on;
      action.sa_flags = SA_RESTART;
      ::sigaction(kSignals.at(i), &action, &before_.at(i));
    }
  }
  ~SignalsPassedOn() {
    child = 0;
    restore();
  }
  SignalsPassedOn(const SignalsPassedOn&) = delete;
  SignalsPassedOn& operator=(const SignalsPassedOn&) = delete;

  void pass_to(pid_t process) const {
    child = static_cast<std::sig_atomic_t>(process);
    ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  }

  void restore() const {
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      ::sigaction(kSignals.at(i), &before_.at(i), nullptr);
    }
    ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  }

 private:
  static constexpr std::array kSignals = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1};
  std::array<struct sigaction, kSignals.size()> before_{};
  sigset_t mask_before_{};
};

[[noreturn]] void become(const std::vector<std::string>& arguments, const Surroundings& given,
                         int failure) {
  if (given.same_addresses) ::personality(ADDR_NO_RANDOMIZE);  // where the system lets it
  for (const auto& [name, value] : given.environment) ::setenv(name.c_str(), value.c_str(), 1);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
  ::execvp(arguments[0].c_str(), pointers(arguments).data());
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(failure, &error, sizeof error);
  ::_exit(127);
}

ProgramEnd wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return {128 + WTERMSIG(status), WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

}  // namespace

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

ProgramEnd run_program(const std::vector<std::string>& arguments, const Surroundings& given) {
  std::array<int, 2> failure{};
  if (::pipe2(failure.data(), O_CLOEXEC) != 0) throw UsageError(std::strerror(errno));
  const SignalsPassedOn signals;
  const pid_t process = ::fork();
  if (process == 0) {
    signals.restore();
    become(arguments, given, failure[1]);
  }
  ::close(failure[1]);
  if (process < 0) throw UsageError(std::strerror(errno));
  signals.pass_to(process);
  int error = 0;
  const bool started = ::read(failure[0], &error, sizeof error) != sizeof error;
  ::close(failure[0]);
  const ProgramEnd end = wait_for(process);
  if (!started) throw UsageError(arguments[0] + ": " + std::strerror(error));
  return end;
}

std::string output_of(const std::vector<std::string>& arguments) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return "";
  const pid_t process = ::fork();
  if (process == 0) {
    ::dup2(pipe[1], STDOUT_FILENO);
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, STDERR_FILENO);
    ::execvp(arguments[0].c_str(), pointers(arguments).data());
    ::_exit(127);
  }
  ::close(pipe[1]);
  std::string output;
  std::array<char, 4096> part{};
  for (ssize_t size = 0; (size = ::read(pipe[0], part.data(), part.size())) > 0;) {
    output.append(part.data(), static_cast<std::size_t>(size));
  }
  ::close(pipe[0]);
  if (process > 0) wait_for(process);
  return output;
}

}  // namespace memreplay
