// Runs the fuzz targets without libFuzzer: with damaged seeds, or with files.

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fuzz/fuzz_target.hpp"
#include "fuzz/mutator.hpp"
#include "support/guarded_bytes.hpp"

namespace memreplay {
namespace {

constexpr const char* kUsage =
    "fuzz_targets list\n"
    "fuzz_targets mutate TARGET|all runs|seconds N [SEED]   an input that ends it is kept here\n"
    "fuzz_targets try TARGET FILE...\n"
    "fuzz_targets corpus TARGET FOLDER                      writes the seeds\n"
    "fuzz_targets dictionary TARGET                         as libFuzzer reads it\n";

/// What runs now, for the handler of signals.
struct {
  char file[256] = {};
  const char* bytes = nullptr;
  std::size_t size = 0;
} now;

void keep_input(int signal) {
  const int file = ::open(now.file, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  bool kept = file >= 0 && ::write(file, now.bytes, now.size) == static_cast<ssize_t>(now.size);
  for (const std::string_view part :
       {std::string_view("kept: "), std::string_view(now.file), std::string_view("\n")}) {
    kept = kept && ::write(STDERR_FILENO, part.data(), part.size()) >= 0;
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// Also where the stack has run out; a sanitizer's own handlers stay.
void watch_signals() {
  static char stack[64 << 10];
  stack_t other{};
  other.ss_sp = stack;
  other.ss_size = sizeof stack;
  ::sigaltstack(&other, nullptr);
  for (const int signal : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV}) {
    struct sigaction present {};
    ::sigaction(signal, nullptr, &present);
    if (present.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_handler = keep_input;
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    ::sigaction(signal, &action, nullptr);
  }
}

void run(const FuzzTarget& target, std::string_view bytes, std::uint64_t number) {
  const GuardedBytes guarded(bytes);
  std::snprintf(now.file, sizeof now.file, "%s-%llu.input", target.name.c_str(),
                static_cast<unsigned long long>(number));
  now.bytes = bytes.data();
  now.size = bytes.size();
  run_target(target, guarded.bytes());
}

struct Limit {
  bool in_seconds = false;
  std::uint64_t count = 0;
};

void mutate(const FuzzTarget& target, const Limit& limit, std::uint64_t seed) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(limit.in_seconds ? limit.count : 0);
  Mutator mutator(target, seed);
  for (const std::string& good : target.seeds) run(target, good, 0);
  std::uint64_t number = 0;
  while (limit.in_seconds ? Clock::now() < end : number < limit.count) {
    const std::string bytes = mutator.input(++number);
    run(target, bytes, number);
  }
  std::printf("%-24s %llu runs, nothing found\n", target.name.c_str(),
              static_cast<unsigned long long>(number));
  std::fflush(stdout);
}

void write_corpus(const FuzzTarget& target, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (std::size_t i = 0; i < target.seeds.size(); ++i) {
    std::ofstream(folder / ("seed-" + std::to_string(i)), std::ios::binary) << target.seeds[i];
  }
}

void print_dictionary(const FuzzTarget& target) {
  for (const std::string& word : target.words) {
    std::string quoted;
    for (const char c : word) {
      char code[5];
      std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned char>(c));
      quoted += code;
    }
    std::printf("\"%s\"\n", quoted.c_str());
  }
}

void try_file(const FuzzTarget& target, const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  run(target, bytes, 0);
}

int main_of(const std::vector<std::string>& words) {
  const std::string verb = words.empty() ? "" : words[0];
  if (verb == "list" && words.size() == 1) {
    for (const FuzzTarget& target : fuzz_targets()) std::printf("%s\n", target.name.c_str());
  } else if (verb == "mutate" && words.size() >= 4) {
    const Limit limit{words[2] == "seconds", std::stoull(words[3])};
    const std::uint64_t seed = words.size() > 4 ? std::stoull(words[4]) : 1;
    for (const FuzzTarget& target : fuzz_targets()) {
      if (words[1] == "all" || words[1] == target.name) mutate(target, limit, seed);
    }
  } else if (verb == "try" && words.size() > 2) {
    const FuzzTarget target = target_named(words[1]);
    for (std::size_t i = 2; i < words.size(); ++i) try_file(target, words[i].c_str());
  } else if (verb == "corpus" && words.size() == 3) {
    write_corpus(target_named(words[1]), words[2]);
  } else if (verb == "dictionary" && words.size() == 2) {
    print_dictionary(target_named(words[1]));
  } else {
    std::fputs(kUsage, stderr);
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace memreplay

int main(int count, char** arguments) {
  memreplay::watch_signals();
  return memreplay::main_of({arguments + 1, arguments + count});
}
