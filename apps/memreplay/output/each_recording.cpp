#include "output/each_recording.hpp"

#include "commands.hpp"
#include "core/error.hpp"
#include "output/output_file.hpp"

namespace memreplay {

int for_each_recording(const InputOptions& input, Progress& progress,
                       const std::function<bool(const InputOptions& one)>& use) {
  int status = kDone;
  InputOptions one = input;
  for (const std::string& path : input.paths) {
    one.paths = {path};
    try {
      if (!use(one)) break;
    } catch (const InputError& error) {
      progress.clear();
      write_stderr(error.what());
      status = kUnusable;
    }
  }
  return status;
}

}  // namespace memreplay
