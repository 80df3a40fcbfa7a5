#include "line/each_recording.hpp"

#include "line/commands.hpp"
#include "line/output_file.hpp"
#include "line/terminal.hpp"

namespace memreplay {
namespace {

void show_reading(Progress& progress, const std::string& path, double share) {
  progress.show("reading " + path, share);
}

}  // namespace

Inputs read_inputs(InputOptions input, Progress& progress, OnUnreadable behind) {
  input.read.progress = [&progress](const std::string& path, double share) {
    show_reading(progress, path, share);
  };
  input.read.note = [&progress](const std::string& what) {
    progress.clear();
    write_stderr(what);
  };
  return Inputs(input, behind);
}

InputOptions EachRecording::one(std::size_t i, std::vector<std::string>& notes) {
  InputOptions one = input_;
  one.paths = {input_.paths[i]};
  one.read.progress = [this](const std::string& path, double share) {
    const std::lock_guard lock(showing_);
    if (waiting_) show_reading(progress_, path, share);
  };
  one.read.note = [&notes](const std::string& what) { notes.push_back(what); };
  return one;
}

void EachRecording::set_waiting(bool waiting) {
  const std::lock_guard lock(showing_);
  waiting_ = waiting;
}

void EachRecording::tell(const std::vector<std::string>& notes) const {
  for (const std::string& note : notes) {
    progress_.clear();
    write_stderr(note);
  }
}

void EachRecording::tell(const InputError& error) {
  if (command_host() != nullptr) throw;
  progress_.clear();
  write_stderr(error.what());
  status_ = kUnusable;
}

}  // namespace memreplay
