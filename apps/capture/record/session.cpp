#include "record/session.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

#include "core/error.hpp"
#include "files/files.hpp"
#include "gpu/shared_cards.hpp"
#include "record/cudnn_service.hpp"
#include "record/recording_folder.hpp"
#include "run/devices.hpp"
#include "run/inputs.hpp"
#include "run/question.hpp"
#include "trace/json/json.hpp"

namespace memreplay {
namespace {

/// Where memreplay itself is.
std::string program_path() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

std::string value_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value ? value : "";
}

/// What memreplay_hook.py reads in the program.
std::map<std::string, std::string> environment_for(const RecordQuestion& question,
                                                   const Cache& cache,
                                                   const std::filesystem::path& folder,
                                                   const gpu::SharedCards& cards,
                                                   const CudnnService* cudnn) {
  const std::filesystem::path hook = embedded_folder(cache);
  const Json asked{{"folder", folder.string()},
                   {"program", program_path()},
                   {"virtual", question.card.has_value()},
                   {"stacks", question.stacks},
                   {"max_entries", question.max_entries},
                   {"real_times", question.real_times},
                   {"at_step", question.at_step}};
  const std::string preloaded = value_of("LD_PRELOAD");
  const std::string others = value_of("PYTHONPATH");
  const std::string object = (hook / "memreplay_python.so").string();
  std::map<std::string, std::string> environment{
      {"MEMREPLAY_RECORD", asked.dump()},
      {"LD_PRELOAD", preloaded.empty() ? object : preloaded + ":" + object},
      {"PYTHONPATH", others.empty() ? hook.string() : hook.string() + ":" + others}};
  if (question.card) {
    environment["MEMREPLAY_VIRTUAL_GPU"] = settings_of(*question.card, question.behaviour);
    if (!cudnn->name().empty()) environment["MEMREPLAY_VIRTUAL_GPU"] += ";cudnn=" + cudnn->name();
    environment["MEMREPLAY_VIRTUAL_CARDS"] = cards.path();
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

/// Writes the calls whose spools are in `spools`.
void take_calls(RecordAnswer& answered, const std::string& spools, RecordingFolder& folder,
                const std::string& output) {
  CallRecordings calls = call_recordings(spools, folder, output);
  answered.only_calls = true;
  answered.calls = std::move(calls.all);
  answered.failed = std::move(calls.failed);
  answered.running = std::move(calls.running);
  if (answered.failed.empty() && answered.running.empty()) {
    folder.done();
  } else {
    answered.left = spools;
  }
}

/// Many processes end right after the one that they serve.
void wait_a_moment_for_others(const std::filesystem::path& folder) {
  constexpr auto kPatience = std::chrono::seconds(1);
  constexpr auto kBetween = std::chrono::milliseconds(20);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!capture::running_in(folder).empty() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(kBetween);
  }
}

}  // namespace

RecordAnswer answer(const RecordQuestion& question, const Cache& cache, const Control& control) {
  RecordAnswer answered{.program = question.program,
                        .end = {},
                        .card = question.card,
                        .fill = question.behaviour.fill};
  RecordingFolder folder(question.output, question.lies_in);
  if (question.calls.any()) {
    answered.end = run_program(
        question.program, {.environment = environment_for(question.calls, cache, folder.path())});
    wait_a_moment_for_others(folder.path());
    take_calls(answered, folder.path().string(), folder, question.output);
    if (!answered.running.empty()) folder.keep();
    return answered;
  }
  const gpu::SharedCards cards;
  std::optional<CudnnService> cudnn;
  if (question.card) cudnn.emplace(program_path(), question.cudnn);
  answered.end = run_program(question.program,
                             {.environment = environment_for(question, cache, folder.path(), cards,
                                                             cudnn ? &*cudnn : nullptr),
                              .same_addresses = question.card.has_value()});
  wait_a_moment_for_others(folder.path());
  try {
    answered.processes = folder.collect();
  } catch (const InputError& error) {
    answered.failed = {error.what()};
    answered.left = folder.path().string();
  }
  for (const RecordedProcess& process : answered.processes) {
    if (process.write_error.empty()) continue;
    answered.failed.push_back(fmt::format("process {}: {}", process.pid, process.write_error));
  }
  answered.running = capture::running_in(folder.path());
  if (!answered.running.empty()) {
    answered.left = folder.path().string();
    folder.keep();
  }
  answered.replays = replays_of(answered.processes, control);
  return answered;
}

RecordAnswer recover(const std::string& folder, const std::string& output) {
  if (!std::filesystem::is_directory(folder)) {
    throw InputError(folder, "", "is not a folder; expected the one that a recording was left in");
  }
  RecordAnswer answered;
  RecordingFolder made(output);
  take_calls(answered, folder, made, output);
  if (answered.calls.empty() && answered.failed.empty() && answered.running.empty()) {
    throw InputError(folder, "", "has no calls; expected the folder that a recording was left in");
  }
  return answered;
}

}  // namespace memreplay
