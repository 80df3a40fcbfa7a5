#include "cudnn_questions.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "answers.hpp"
#include "cudnn_asking.hpp"
#include "properties.hpp"
#include "settings.hpp"

namespace memreplay::gpu {
namespace {

std::string folder_beside_torch;

/// The card as cuDNN's deviceless mode wants it described: names are its own, figures NVIDIA's.
/// What decides are the capability and the number of multiprocessors; the rest has to be there.
std::string card_as_json() {
  const Settings& given = settings();
  const Capability can = capability();
  std::string text = "{\"deviceName\":\"" + given.name + '"';
  const auto add = [&](const char* name, std::uint64_t value) {
    text += std::string(",\"") + name + "\":" + std::to_string(value);
  };
  add("deviceVer", static_cast<std::uint64_t>(given.major * 100 + given.minor * 10));
  add("multiProcessorCount", static_cast<std::uint64_t>(given.multiprocessors));
  add("warpSize", kWarp);
  add("maxSharedMemoryPerBlock", kSharedPerBlock);
  add("maxSharedMemoryPerBlockOptin", static_cast<std::uint64_t>(can.shared_per_block_optin));
  add("reservedSharedMemoryPerBlock", given.major >= 8 ? kReservedSharedPerBlock : 0);
  add("maxRegistersPerSM", kRegisters);
  add("regsPerBlock", kRegisters);
  add("maxCtasPerSM", static_cast<std::uint64_t>(can.blocks_per_multiprocessor));
  add("maxThreadsPerSM", static_cast<std::uint64_t>(can.threads_per_multiprocessor));
  add("maxThreadsPerBlock", kThreadsPerBlock);
  add("totalGlobalMem", given.total);
  add("smClockRateKHz", 1'500'000);
  add("memClockRateKHz", 1'500'000);
  add("memoryBusWidth", kBusWidth);
  add("l2CacheSize", kL2Cache);
  add("supportCoopLaunch", 1);
  add("isTccDriver", 0);
  add("pciDeviceId", 0);
  add("cudaDeviceId", 0);
  add("driverVer", 12080);
  return text + ",\"maxBlockSize\":[1024,1024,64],\"maxGridSize\":[2147483647,65535,65535]}";
}

/// A connection of this process to who asks the library.
class Connection {
 public:
  /// A line for a line; unset where nobody answers.
  std::optional<std::string> ask(std::string question) {
    if (process_ != ::getpid()) open();  // that of a parent is the parent's
    question += '\n';
    if (!send_all(file_, question)) return std::nullopt;
    std::string answer;
    std::array<char, 4096> part{};
    while (!answer.ends_with('\n')) {
      const ssize_t size = ::recv(file_, part.data(), part.size(), 0);
      if (size <= 0) return std::nullopt;
      answer.append(part.data(), static_cast<std::size_t>(size));
    }
    answer.pop_back();
    return answer;
  }

 private:
  void open() {
    if (file_ >= 0) ::close(file_);
    process_ = ::getpid();
    file_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file_ >= 0 && at_abstract_address(::connect, file_, settings().cudnn) != 0) {
      ::close(std::exchange(file_, -1));
    }
  }

  int file_ = -1;
  pid_t process_ = 0;
};

template <typename Number>
Number number(std::string_view text) {
  Number value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<int> numbers(std::string_view text) {
  std::vector<int> all;
  while (!text.empty()) all.push_back(number<int>(taken(text, ',')));
  return all;
}

std::vector<CudnnEngine> engines_in(std::string_view words) {
  std::vector<CudnnEngine> engines;
  while (!words.empty()) {
    std::string_view word = taken(words, ' ');
    CudnnEngine& engine = engines.emplace_back();
    engine.index = number<std::int64_t>(taken(word, ':'));
    engine.workspace = number<std::int64_t>(taken(word, ':'));
    engine.numerical_notes = numbers(taken(word, ':'));
    engine.behaviour_notes = numbers(word);
  }
  return engines;
}

// One question at a time.
std::mutex& asking = *new std::mutex;

/// `what` is the first field of the question.
std::optional<std::string> asked(const std::string& what, const std::string& graph) {
  static Connection& connection = *new Connection;
  const auto line =
      connection.ask(folder_beside_torch + '\t' + what + '\t' + card_as_json() + '\t' + graph);
  std::string_view answer = line ? *line : std::string_view("error nobody answers for cuDNN");
  if (taken(answer, ' ') != "ok") {
    cudnn_was_not_asked(std::string(answer), graph);
    return std::nullopt;
  }
  cudnn_was_asked(std::string(taken(answer, ' ')), graph);
  return std::string(answer);
}

}  // namespace

std::optional<std::vector<CudnnEngine>> ask_cudnn(int mode, const std::string& graph) {
  if (settings().cudnn.empty()) return std::nullopt;
  static auto& known =
      *new std::map<std::pair<int, std::string>, std::optional<std::vector<CudnnEngine>>>;
  const std::lock_guard lock(asking);
  const auto [found, is_new] = known.try_emplace({mode, graph});
  if (is_new) {
    if (const auto words = asked(std::to_string(mode), graph)) found->second = engines_in(*words);
  }
  return found->second;
}

std::optional<std::string> ask_cudnn_for_plan(int mode, std::size_t place,
                                              const std::string& graph) {
  const std::lock_guard lock(asking);
  return asked(std::to_string(mode) + '#' + std::to_string(place), graph);
}

}  // namespace memreplay::gpu

#pragma GCC visibility push(default)
extern "C" {

/// The folder of the cuDNN that lies beside the program's torch.
void memreplay_gpu_cudnn_folder(const char* folder) {
  memreplay::gpu::folder_beside_torch = folder;
}

}  // extern "C"
#pragma GCC visibility pop
