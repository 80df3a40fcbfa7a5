#include "output/each_recording.hpp"

#include "commands.hpp"
#include "core/error.hpp"
#include "output/command_host.hpp"
#include "output/last_words.hpp"
#include "output/output_file.hpp"

namespace memreplay {

namespace {

void show_reading(InputOptions& input, Progress& progress) {
  input.read.progress = [&progress](const std::string& path, double share) {
    progress.show("reading " + path, share);
  };
  input.read.note = [&progress](const std::string& what) {
    progress.clear();
    write_stderr(what);
  };
}

}  // namespace

Inputs read_inputs(InputOptions input, Progress& progress, OnUnreadable behind) {
  show_reading(input, progress);
  return Inputs(input, behind);
}

int for_each_recording(const InputOptions& input, Progress& progress,
                       const std::function<bool(const InputOptions& one)>& use) {
  int status = kDone;
  InputOptions one = input;
  show_reading(one, progress);
  for (const std::string& path : input.paths) {
    one.paths = {path};
    set_recording(path);
    try {
      if (!use(one)) break;
    } catch (const InputError& error) {
      if (command_host() != nullptr) throw;
      progress.clear();
      write_stderr(error.what());
      status = kUnusable;
    }
  }
  return status;
}

}  // namespace memreplay
