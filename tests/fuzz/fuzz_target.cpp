#include "fuzz/fuzz_target.hpp"

#include <cctype>
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

[[noreturn]] void escaped(const FuzzTarget& target, const char* what) {
  std::fprintf(stderr, "%s: threw what is no InputError: %s\n", target.name.c_str(), what);
  std::abort();
}

}  // namespace

std::vector<FuzzTarget> fuzz_targets() {
  std::vector<FuzzTarget> all;
  for (auto* part : {reader_targets, text_targets, command_targets}) {
    for (FuzzTarget& target : part()) all.push_back(std::move(target));
  }
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
