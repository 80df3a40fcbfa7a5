#include "fuzz/fuzz_target.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "core/error.hpp"

// With a sanitizer, what it finds ends the program so that the input can be kept.
extern "C" const char* __asan_default_options() { return "abort_on_error=1:detect_leaks=0"; }
extern "C" const char* __ubsan_default_options() {
  return "halt_on_error=1:abort_on_error=1:print_stacktrace=1";
}

namespace memreplay {
namespace {

constexpr time_t kMostSeconds = 20;  // for one input

/// Counts the processor's time, as others may be at work.
class TimeLimit {
 public:
  TimeLimit() {
    std::signal(SIGPROF, [](int) {
      constexpr std::string_view kWhy = "too slow\n";
      if (::write(STDERR_FILENO, kWhy.data(), kWhy.size()) > 0) std::abort();
    });
    set(kMostSeconds);
  }
  ~TimeLimit() { set(0); }

 private:
  static void set(time_t seconds) {
    const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
    ::setitimer(ITIMER_PROF, &limit, nullptr);
  }
};

[[noreturn]] void escaped(const FuzzTarget& target, const char* what) {
  std::fprintf(stderr, "%s: threw what is no InputError: %s\n", target.name.c_str(), what);
  std::abort();
}

}  // namespace

std::vector<FuzzTarget> fuzz_targets() {
  std::vector<FuzzTarget> all = reader_targets();
  std::ranges::move(text_targets(), std::back_inserter(all));
  std::ranges::move(command_targets(all), std::back_inserter(all));
  return all;
}

FuzzTarget target_named(std::string_view name) {
  for (FuzzTarget& target : fuzz_targets()) {
    if (target.name == name) return target;
  }
  std::fprintf(stderr, "no target '%s'\n", std::string(name).c_str());
  std::exit(2);
}

void run_target(const FuzzTarget& target, std::string_view bytes) {
  const TimeLimit limit;
  try {
    target.take(bytes);
  } catch (const InputError&) {
  } catch (const UsageError&) {
  } catch (const std::exception& error) {
    escaped(target, error.what());
  } catch (...) {
    escaped(target, "something without a name");
  }
}

std::span<const std::string_view> hostile_texts() {
  static constexpr std::string_view kTexts[] = {"-1",
                                                "-9223372036854775808",
                                                "18446744073709551616",
                                                "18446744073709551615",
                                                "9223372036854775807",
                                                "1e308",
                                                "-0.0",
                                                "1e-320",
                                                "nan",
                                                "inf",
                                                "0x7fffffffffffffff",
                                                "1.5",
                                                "99999999999999999999999999",
                                                "0",
                                                "",
                                                "{}",
                                                "%n",
                                                "=,:@",
                                                "\xff\x1b[31m\n"};
  return kTexts;
}

std::vector<std::string> words_in(const std::vector<std::string>& texts) {
  std::set<std::string> words;
  for (const std::string& text : texts) {
    std::string word;
    for (const char c : text + ' ') {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-') {
        word += c;
      } else {
        if (word.size() > 1 && word.size() < 40) words.insert(word);
        word.clear();
      }
    }
  }
  return {words.begin(), words.end()};
}

std::string bundled_file(const std::string& name) { return MEMREPLAY_TRACES "/" + name; }

std::vector<std::string> bundled_files() {
  constexpr std::uintmax_t kLargest = 20000;
  std::set<std::filesystem::path> paths;
  for (const auto& file : std::filesystem::recursive_directory_iterator(MEMREPLAY_TRACES)) {
    if (file.is_regular_file() && file.file_size() <= kLargest) paths.insert(file.path());
  }
  std::vector<std::string> contents;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    contents.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return contents;
}

}  // namespace memreplay
