#include "record/cudnn_service.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "gpu/cudnn_asking.hpp"
#include "record/program.hpp"

extern char** environ;  // NOLINT: as POSIX has it

namespace memreplay {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libcudnn.so.9";

/// Where cuBLAS lies beside cuDNN, as NVIDIA's packages have it; cuDNN needs its libcublasLt.
std::string library_path(const fs::path& folder) {
  std::string path = folder.string();
  const fs::path packages = folder.parent_path().parent_path();
  for (const fs::path& beside :
       {packages / "cublas/lib", packages / "cu13/lib", packages / "cu12/lib"}) {
    std::error_code error;
    if (fs::is_directory(beside, error)) path += ':' + beside.string();
  }
  return path;
}

/// The surroundings of a process that loads the real libraries, and nothing of ours.
std::vector<std::string> surroundings(const fs::path& folder) {
  std::vector<std::string> all = {"LD_LIBRARY_PATH=" + library_path(folder)};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (!text.starts_with("LD_LIBRARY_PATH=") && !text.starts_with("LD_PRELOAD=")) {
      all.emplace_back(text);
    }
  }
  return all;
}

}  // namespace

/// Lines that come in pieces.
class CudnnService::Lines {
 public:
  /// False at the end of the file.
  bool read_from(int file) {
    std::array<char, 1 << 16> part{};
    const ssize_t size = ::read(file, part.data(), part.size());
    if (size <= 0) return false;
    text_.append(part.data(), static_cast<std::size_t>(size));
    return true;
  }
  std::optional<std::string> take() {
    const std::size_t end = text_.find('\n');
    if (end == text_.npos) return std::nullopt;
    std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    return line;
  }

 private:
  std::string text_;
};

/// A process that has the library of one folder.
class CudnnService::Library {
 public:
  Library(std::string program, fs::path folder)
      : program_(std::move(program)), folder_(std::move(folder)) {}
  ~Library() { end(); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// A line. The library may end its process: then it answers nothing to this question.
  std::string ask(const std::string& question) {
    constexpr int kMostEnds = 3;
    if (ends_ >= kMostEnds) return "error the process that asks cuDNN has ended too often";
    if (process_ <= 0 && !begin()) return "error no process to ask cuDNN in could be started";
    if (gpu::send_all(to_, question + '\n')) {
      do {
        if (auto line = lines_.take()) return *line;
      } while (lines_.read_from(to_));
    }
    end();
    ++ends_;
    return "error cuDNN ended the process that asked it";
  }

 private:
  bool begin() {
    std::array<int, 2> pair{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) return false;
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, pair[1], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, pair[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const std::vector<std::string> words = {program_, "record", "--ask-cudnn", folder_.string()};
    const std::vector<std::string> given = surroundings(folder_);
    posix_spawnattr_t attributes;  // the thread that asks takes no signals; this process does
    sigset_t none{};
    ::sigemptyset(&none);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    const int error = ::posix_spawn(&process_, words.front().c_str(), &actions, &attributes,
                                    pointers(words).data(), pointers(given).data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    ::close(pair[1]);
    to_ = pair[0];
    lines_ = {};
    if (error != 0) end();
    return error == 0;
  }

  void end() {
    if (to_ >= 0) ::close(std::exchange(to_, -1));
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    int status = 0;
    ::waitpid(std::exchange(process_, 0), &status, 0);
  }

  std::string program_;
  fs::path folder_;
  pid_t process_ = 0;
  int to_ = -1;
  int ends_ = 0;
  Lines lines_;
};

CudnnService::CudnnService(std::string program, std::string folder)
    : program_(std::move(program)), folder_(std::move(folder)) {
  if (!folder_.empty()) {
    std::error_code error;
    folder_ = fs::absolute(folder_).string();
    if (!fs::exists(fs::path(folder_) / kLibrary, error)) {
      throw UsageError(
          fmt::format("--cudnn {}: has no {}; expected the folder that holds it, such "
                      "as site-packages/nvidia/cudnn/lib",
                      folder_, kLibrary));
    }
  }
  std::uint64_t random = 0;  // by a call that libraries older than std::random_device have
  [[maybe_unused]] const ssize_t drawn = ::getrandom(&random, sizeof random, 0);
  name_ = fmt::format("memreplay-cudnn-{}-{:016x}", ::getpid(), random);
  std::array<int, 2> stop{};
  socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool is_there = socket_ >= 0 && gpu::at_abstract_address(::bind, socket_, name_) == 0 &&
                        ::listen(socket_, SOMAXCONN) == 0 && ::pipe2(stop.data(), O_CLOEXEC) == 0;
  if (!is_there) {  // the model answers then
    name_.clear();
    return;
  }
  stopped_ = stop[0];
  stop_ = stop[1];
  sigset_t all{};
  sigset_t before{};
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { serve(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

CudnnService::~CudnnService() {
  if (stop_ >= 0) ::close(stop_);
  if (thread_.joinable()) thread_.join();
  if (stopped_ >= 0) ::close(stopped_);
  if (socket_ >= 0) ::close(socket_);
}

void CudnnService::serve() {
  std::map<int, Lines> asking;
  for (;;) {
    std::vector<pollfd> files = {{stopped_, POLLIN, 0}, {socket_, POLLIN, 0}};
    for (const auto& [file, lines] : asking) files.push_back({file, POLLIN, 0});
    if (::poll(files.data(), files.size(), -1) < 0) continue;
    if (files[0].revents != 0) break;
    if (files[1].revents != 0) {
      const int file = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
      ucred who{};
      socklen_t size = sizeof who;
      if (file >= 0 && ::getsockopt(file, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
          who.uid == ::geteuid()) {
        asking[file];
      } else if (file >= 0) {
        ::close(file);
      }
    }
    for (std::size_t i = 2; i < files.size(); ++i) {
      if (files[i].revents == 0) continue;
      const int file = files[i].fd;
      Lines& lines = asking[file];
      bool goes_on = lines.read_from(file);
      while (goes_on) {
        const auto question = lines.take();
        if (!question) break;
        goes_on = gpu::send_all(file, answer(*question) + '\n');
      }
      if (goes_on) continue;
      ::close(file);
      asking.erase(file);
    }
  }
  for (const auto& [file, lines] : asking) ::close(file);
  libraries_.clear();
}

std::string CudnnService::answer(const std::string& question) {
  const std::size_t mark = question.find('\t');
  if (mark == question.npos) return "error the question has no folder";
  const std::string folder = folder_.empty() ? question.substr(0, mark) : folder_;
  if (folder.empty()) return "error no cuDNN lies beside torch";
  const std::string asked = question.substr(mark + 1);
  std::string& known = answers_[folder + '\t' + asked];
  if (!known.empty()) return known;
  std::unique_ptr<Library>& library = libraries_[folder];
  if (!library) library = std::make_unique<Library>(program_, folder);
  return known = library->ask(asked);
}

}  // namespace memreplay
