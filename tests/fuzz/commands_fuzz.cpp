// Runs every command of a list on each file that it is given, in one process, so that sanitizers see them: damaged recordings
// (tools/damage) must be answered or refused, in time and with no other error than InputError and UsageError. The name of the
// file and the command stand in the file $MEMREPLAY_FUZZ_LOG before each run.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "commands.hpp"
#include "core/error.hpp"
#include "options/command_line.hpp"

namespace {

using Words = std::vector<std::string>;

const std::vector<Words> kCommandLines = {
    {"info", "FILE"},
    {"verify", "FILE"},
    {"replay", "FILE", "-s", "torch", "-s", "recorded", "--json", "--audit"},
    {"replay", "FILE", "-s", "torch:expandable_segments=True", "-s", "bfc", "-s", "buddy"},
    {"compare", "FILE", "--capacity", "1GiB"},
    {"replay", "FILE", "-s", "bfc", "--capacity", "18446744073709551615"},
    {"explain", "FILE"},
    {"explain", "FILE", "--capacity", "40MiB", "--tree"},
    {"tune", "FILE", "--runs", "5", "--threads", "1"},
    {"fit", "FILE"},
    {"diff", "FILE", "FILE"},
    {"report", "FILE", "-o", "OUT.html"},
    {"convert", "FILE", "OUT.json"},
    {"convert", "FILE", "OUT.csv"},
    {"convert", "FILE", "OUT.pickle", "-s", "torch"},
    {"convert", "FILE", "OUT.json", "--anonymise"},
    {"plan", "FILE"},
};

void log(const std::string& text) {
  static const char* path = std::getenv("MEMREPLAY_FUZZ_LOG");
  if (path != nullptr) std::ofstream(path, std::ios::app) << text << std::endl;
}

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += word + ' ';
  return text;
}

void run(const Words& words) {
  log("RUN " + joined(words));
  const auto all = memreplay::commands();
  const auto command = std::ranges::find(all, words.front(), &memreplay::Command::name);
  if (command == all.end()) return;
  ::alarm(60);
  try {
    command->run(*command, {words.begin() + 1, words.end()});
  } catch (const memreplay::InputError&) {
  } catch (const memreplay::UsageError&) {
  } catch (const std::exception& error) {
    log("ERROR " + joined(words) + ": " + error.what());
  }
  ::alarm(0);
}

}  // namespace

int main(int count, char** paths) {
  const std::string out = std::string(std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "/tmp") +
                          "/fuzz_out_" + std::to_string(::getpid());
  ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
  ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
  for (int i = 1; i < count; ++i) {
    for (Words words : kCommandLines) {
      for (std::string& word : words) {
        if (word == "FILE") word = paths[i];
        if (word.starts_with("OUT")) word = out + word.substr(3);
      }
      run(words);
    }
  }
  for (const char* end : {".html", ".json", ".csv", ".pickle"}) ::unlink((out + end).c_str());
}
