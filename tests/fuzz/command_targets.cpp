#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <streambuf>

#include "commands.hpp"
#include "device/watch/ledger.hpp"
#include "fuzz/fuzz_target.hpp"

namespace memreplay {
namespace {

using Words = std::vector<std::string>;

// Of each the recording and an output are put in.
const std::vector<Words> kCommandLines = {
    {"info", "FILE"},
    {"verify", "FILE"},
    {"replay", "FILE", "-s", "torch", "-s", "recorded", "--json"},
    {"replay", "FILE", "-s", "torch:expandable_segments=True", "--audit"},
    {"replay", "FILE", "-s", "bfc", "--capacity", "18446744073709551615"},
    {"compare", "FILE", "--capacity", "1GiB"},
    {"explain", "FILE"},
    {"explain", "FILE", "--capacity", "40MiB", "--tree"},
    {"tune", "FILE", "--runs", "5", "--threads", "1"},
    {"fit", "FILE"},
    {"ranks", "FILE"},
    {"ranks", "--merge", "FILE"},
    {"diff", "FILE", "FILE"},
    {"report", "FILE", "-o", "OUT.html"},
    {"convert", "FILE", "OUT.json"},
    {"convert", "FILE", "OUT.csv"},
    {"convert", "FILE", "OUT.pickle", "-s", "torch"},
    {"convert", "FILE", "OUT.json", "--anonymise"},
};

/// Takes what is written, and forgets it.
class Nowhere final : public std::streambuf {
 protected:
  int_type overflow(int_type c) override { return traits_type::not_eof(c); }
  std::streamsize xsputn(const char*, std::streamsize count) override { return count; }
};

/// While it lives, nobody reads what the program says.
class Unheard {
 public:
  Unheard() : out_(std::cout.rdbuf(&nowhere_)), err_(std::cerr.rdbuf(&nowhere_)) {}
  ~Unheard() {
    std::cout.rdbuf(out_);
    std::cerr.rdbuf(err_);
  }

 private:
  Nowhere nowhere_;
  std::streambuf* out_;
  std::streambuf* err_;
};

/// A file in memory, by the name that it has in this process.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (::write(file_, bytes.data(), bytes.size()) < 0) std::abort();
  }
  ~MemoryFile() { ::close(file_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

void run(Words words, const std::string& recording) {
  const std::string out = "/tmp/memreplay_fuzz_" + std::to_string(::getpid());
  for (std::string& word : words) {
    if (word == "FILE") word = recording;
    if (word.starts_with("OUT")) word = out + word.substr(3);
  }
  const auto command = std::ranges::find(commands(), words.front(), &Command::name);
  const Unheard unheard;
  try {
    command->run(*command, {words.begin() + 1, words.end()});
  } catch (const AuditError& error) {
    // Not every strategy knows of alignments.
    if (std::string_view(error.what()).find("not aligned") == std::string_view::npos) throw;
  }
}

/// One command a time: which one, the bytes say.
void run_one(std::string_view bytes) {
  const std::size_t number = std::hash<std::string_view>()(bytes) % kCommandLines.size();
  run(kCommandLines[number], MemoryFile(bytes).path());
}

}  // namespace

std::vector<FuzzTarget> command_targets() {
  std::vector<std::string> seeds = bundled_files();
  seeds.insert(seeds.end(), small_snapshots().begin(), small_snapshots().end());
  return {{"command", run_one, seeds, words_in(seeds)}};
}

}  // namespace memreplay
