#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "extensions/messages/message_kind.hpp"

namespace memreplay {
namespace {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }
bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool starts_with(std::string_view text, std::string_view word) {
  return text.size() >= word.size() && std::equal(word.begin(), word.end(), text.begin(),
                                                  [](char a, char b) { return a == lower(b); });
}

/// Finds words in lower case, whatever case the text has them in.
class WordFinder {
 public:
  explicit WordFinder(std::span<const std::string_view> words) {
    for (const std::string_view word : words) {
      unsigned char& group = group_of_[slot_of(word[0], word[1], word[2])];
      if (group == 0) {
        group = static_cast<unsigned char>(groups_.size());
        groups_.emplace_back();
      }
      groups_[group].push_back(word);
    }
  }

  /// Calls `use` with the places of words and the words until it returns true.
  template <typename Use>
  bool any(std::string_view text, const Use& use) const {
    if (text.size() < 3) return false;
    const unsigned char* const group_of = group_of_.data();
    const char* const last = text.data() + text.size();
    std::size_t slot = slot_of(0, text[0], text[1]);  // the three characters that end at `at`
    for (const char* at = text.data() + 2; at != last; ++at) {
      slot = (slot << 5 | (static_cast<unsigned char>(*at) & kLetter)) & (kSlots - 1);
      if (group_of[slot] == 0) continue;
      const auto from = static_cast<std::size_t>(at - text.data()) - 2;
      for (const std::string_view word : groups_[group_of[slot]]) {
        if (starts_with(text.substr(from), word) && use(from, word)) return true;
      }
    }
    return false;
  }

 private:
  static constexpr unsigned kLetter = 31;  ///< in either case
  static constexpr std::size_t kSlots = std::size_t{1} << 15;

  static std::size_t slot_of(char first, char second, char third) {
    const auto bits = [](char c) { return static_cast<unsigned char>(c) & kLetter; };
    return bits(first) << 10 | bits(second) << 5 | bits(third);
  }

  std::array<unsigned char, kSlots> group_of_{};  ///< 0: none
  std::vector<std::vector<std::string_view>> groups_ = {{}};
};

constexpr std::string_view kFailures[] = {"traceback",
                                          "error",
                                          "killed",
                                          "oom",
                                          "out of memory",
                                          "outofmemor",
                                          "exception",
                                          "failed",
                                          "fatal",
                                          "panic",
                                          "abort",
                                          "core dump",
                                          "segmentation",
                                          "sigkill",
                                          "sigsegv",
                                          "sigbus",
                                          "resource_exhausted",
                                          "terminate called",
                                          "cancelled",
                                          "crash",
                                          "exit code",
                                          "exit status",
                                          "exitcode",
                                          "exited with",
                                          "return code"};
/// Words of a line that tells of no failure, close to one of the others.
constexpr std::string_view kHarmless[] = {"not a failure", "retrying without pipeline",
                                          "Skipping tactic"};
constexpr std::string_view kSuccesses[] = {"application startup complete",
                                           "uvicorn running on",
                                           "fired up and ready to roll",
                                           "http/1.1\" 200",
                                           "http/1.1 200",
                                           "| 200 |",
                                           "runner started in",
                                           "server is listening",
                                           "server listening",
                                           "slots are idle",
                                           "avg prompt throughput",
                                           "avg generation throughput",
                                           "decode batch",
                                           "eval time =",
                                           "train_runtime",
                                           "training complete",
                                           "training finished",
                                           "finished training",
                                           "started httpservice",
                                           "started grpcinferenceservice",
                                           "benchmark result",
                                           "'loss':",
                                           "\"loss\":",
                                           "loss:",
                                           "loss ="};

// A status of a process: 0 is none of a failure.
bool is_of_status(std::string_view word) {
  return word.starts_with("exit") || word.starts_with("return code");
}
bool is_zero(std::string_view rest) {
  constexpr std::size_t kNear = 12;
  const std::size_t at = rest.find_first_of("0123456789");
  return at >= kNear || (rest[at] == '0' && (at + 1 == rest.size() || !is_digit(rest[at + 1])));
}

bool is_harmless(std::string_view text, std::size_t at) {
  constexpr std::size_t kBefore = 120, kAfter = 400;
  const std::size_t from = at - std::min(at, kBefore);
  const std::string_view near = text.substr(from, at - from + kAfter);
  return std::ranges::any_of(kHarmless,
                             [&](std::string_view word) { return near.find(word) != near.npos; });
}

bool says_any(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return text.find(word) != text.npos; });
}

}  // namespace

bool shows_failure(std::string_view text) {
  static const WordFinder kFinder(kFailures);
  return kFinder.any(text, [&](std::size_t at, std::string_view word) {
    const bool begins = at == 0 || !is_letter(text[at - 1]) || word != "oom";
    const bool none = is_of_status(word) && is_zero(text.substr(at + word.size()));
    return begins && !none && !is_harmless(text, at);
  });
}

bool shows_success(std::string_view text) {
  static const WordFinder kFinder(kSuccesses);
  constexpr std::size_t kStepsThatGoOn = 2;
  std::size_t steps = 0;
  return kFinder.any(text, [&](std::size_t at, std::string_view word) {
    if (word.find("loss") == word.npos) return true;
    const std::string_view rest = text.substr(at + word.size(), 2);
    return std::ranges::any_of(rest, is_digit) && ++steps == kStepsThatGoOn;
  });
}

Platform platform_of(std::string_view text) {
  constexpr std::string_view kJetson[] = {"Jetson", "tegra", "NvMap", "nvgpu", "L4T"};
  constexpr std::string_view kWsl[] = {"microsoft-standard-WSL", "/usr/lib/wsl/", "WSL2",
                                       "/mnt/c/"};
  constexpr std::string_view kWindows[] = {"$env:", "\\site-packages\\", "\\Users\\", "\\Lib\\",
                                           ".exe",  "win_amd64"};
  if (says_any(text, kJetson)) return Platform::jetson;
  if (says_any(text, kWsl)) return Platform::wsl;
  if (says_any(text, kWindows)) return Platform::windows;
  // "C:\app\train.py", in a text of JSON or of Python with two of them.
  for (std::size_t at = text.find(":\\", 1); at < text.size(); at = text.find(":\\", at + 1)) {
    const bool drive = text[at - 1] >= 'A' && text[at - 1] <= 'Z' &&
                       (at == 1 || (!is_letter(text[at - 2]) && !is_digit(text[at - 2])));
    const std::string_view folder = text.substr(at + 2, 1);
    if (drive && !folder.empty() && (is_letter(folder[0]) || folder[0] == '\\')) {
      return Platform::windows;
    }
  }
  return Platform::unknown;
}

}  // namespace memreplay
