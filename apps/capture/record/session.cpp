#include "record/session.hpp"

#include <cstdlib>
#include <filesystem>

#include "analysis/recorded/inputs.hpp"
#include "analysis/run/devices.hpp"
#include "analysis/run/question.hpp"
#include "core/error.hpp"
#include "files/files.hpp"
#include "record/recording_folder.hpp"
#include "trace/json/json.hpp"

namespace memreplay {
namespace {

/// What sitecustomize.py reads in the program.
std::map<std::string, std::string> environment_for(const RecordQuestion& question,
                                                   const Cache& cache,
                                                   const std::filesystem::path& folder) {
  const std::filesystem::path hook = embedded_folder(cache);
  const Json asked{{"folder", folder.string()},
                   {"program", std::filesystem::read_symlink("/proc/self/exe").string()},
                   {"virtual", question.card.has_value()},
                   {"stacks", question.stacks},
                   {"max_entries", question.max_entries},
                   {"at_step", question.at_step}};
  const char* const others = std::getenv("PYTHONPATH");
  std::map<std::string, std::string> environment{
      {"MEMREPLAY_RECORD", asked.dump()},
      {"PYTHONPATH", hook.string() + (others && *others ? std::string(":") + others : "")}};
  if (question.card) {
    environment["MEMREPLAY_VIRTUAL_GPU"] = settings_of(*question.card, question.behaviour);
    if (!std::getenv("PYTHONHASHSEED")) environment["PYTHONHASHSEED"] = "0";
  }
  return environment;
}

ReplayAnswer replays_of(const std::vector<RecordedProcess>& processes, const Control& control) {
  InputOptions input;
  for (const RecordedProcess& process : processes) {
    if (!process.path.empty()) input.paths.push_back(process.path);
  }
  if (input.paths.empty()) return {};
  const Inputs inputs(input, OnUnreadable::go_on);
  if (inputs.chosen().empty()) return {};
  const ReplayQuestion question;
  return answer(inputs, open_devices(question.setup), question, control);
}

}  // namespace

RecordAnswer answer(const RecordQuestion& question, const Cache& cache, const Control& control) {
  RecordAnswer answered{.program = question.program,
                        .end = {},
                        .card = question.card,
                        .fill = question.behaviour.fill,
                        .only_calls = question.calls.any()};
  RecordingFolder folder(question.output);
  if (question.calls.any()) {
    answered.end = run_program(
        question.program, {.environment = environment_for(question.calls, cache, folder.path())});
    answered.calls = call_recordings(folder, question.output);
    return answered;
  }
  answered.end =
      run_program(question.program, {.environment = environment_for(question, cache, folder.path()),
                                     .same_addresses = question.card.has_value()});
  answered.processes = folder.collect();
  answered.replays = replays_of(answered.processes, control);
  return answered;
}

}  // namespace memreplay
