#include "run/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "core/error.hpp"
#include "core/gpu_label.hpp"
#include "core/parallel.hpp"
#include "program/devices.hpp"
#include "program/summary.hpp"

namespace memreplay {
namespace {

/// What came of a file, to be told in the order given.
struct ReadFile {
  Recording recording;
  std::exception_ptr failure;
  std::vector<std::string> notes;
};

/// Reads on as many threads as there are cores; files after a failure that stops all may be left
/// out.
std::vector<ReadFile> read_files(const InputOptions& input, OnUnreadable behind) {
  const std::vector<std::string>& paths = input.paths;
  std::vector<ReadFile> files(paths.size());
  std::mutex showing;
  std::atomic<std::size_t> read_up_to = files.size();
  const auto read = [&](std::size_t i) {
    if (i > read_up_to) return;
    ReadOptions options = input.read;
    if (options.note) options.note = [&](const auto& note) { files[i].notes.push_back(note); };
    if (options.progress) {
      options.progress = [&](const std::string& path, double share) {
        const std::lock_guard lock(showing);
        input.read.progress(path, share);
      };
    }
    try {
      files[i].recording = read_recording(paths[i], options);
    } catch (...) {
      files[i].failure = std::current_exception();
      if (behind == OnUnreadable::stop) read_up_to = std::min(read_up_to.load(), i);
    }
  };
  for_each_parallel(paths.size(), readers_at_once(input), read);
  return files;
}

}  // namespace

unsigned readers_at_once(const InputOptions& input) {
  const bool in_turn =
      input.read.python_reader || std::ranges::find(input.paths, "-") != input.paths.end();
  return in_turn ? 1 : std::max(std::thread::hardware_concurrency(), 1U);
}

Subject Chosen::subject(const Control& control) const {
  if (is_torch(*recording) && !made) control.show("reading " + recording->path, 0);
  return Subject(*recording, *trace, made ? made->likeliest.origin : nullptr);
}

Inputs::Inputs(const InputOptions& input, OnUnreadable behind) {
  if (input.variation || input.together) behind = OnUnreadable::stop;
  std::vector<ReadFile> files = read_files(input, behind);
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (const std::string& note : files[i].notes) input.read.note(note);
    try {
      if (files[i].failure) std::rethrow_exception(files[i].failure);
      add(std::move(files[i].recording), input);
    } catch (const InputError& error) {
      if (behind == OnUnreadable::stop) throw;
      unreadable_.push_back({input.paths[i], error.what()});
    }
  }
  if (input.together) put_together(input.order);
  if (!input.variation || !input.variation->at) return;
  chosen_.clear();
  for (MadeRecordings& made : predicted_at(recordings_, *input.variation, input.gpu)) {
    add(input.edits.empty() ? std::move(made) : edited(made, input.edits));
  }
}

void Inputs::put_together(std::optional<TogetherOrder> order) {
  std::vector<SharingRecording> recordings;
  for (Chosen& chosen : chosen_) {
    const auto origin = chosen.made ? chosen.made->likeliest.origin : nullptr;
    recordings.push_back({std::make_shared<const Subject>(*chosen.recording, *chosen.trace, origin),
                          std::move(chosen.made)});
  }
  chosen_.clear();
  add(on_one_device(std::move(recordings), order));
}

void Inputs::add(MadeRecordings&& made) {
  auto kept = std::make_shared<const MadeRecordings>(std::move(made));
  const MadeRecording& likeliest = kept->likeliest;
  chosen_.push_back({&likeliest.recording, &likeliest.trace(), std::move(kept)});
}

void Inputs::add(Recording&& recording, const InputOptions& input) {
  const std::optional<int> gpu = input.gpu;
  if (!recording.text && chosen_traces(recording, gpu).empty()) {
    throw InputError(recording.path, "",
                     recording.why_no_trace.empty()
                         ? "has neither events nor memory; nothing to replay"
                         : recording.why_no_trace + "; nothing to replay");
  }
  const Recording& kept = recordings_.emplace_back(std::move(recording));
  for (const Trace* trace : chosen_traces(kept, gpu)) {
    if (input.edits.empty() || input.variation) {
      chosen_.push_back({&kept, trace});
    } else {
      add(edited(Subject(kept, *trace), input.edits));
    }
  }
}

std::optional<VerifyRun> model_check(const Subject& subject) {
  if (subject.verified() == nullptr) return std::nullopt;
  return *subject.verified();
}

TraceSummary summarise(const Chosen& chosen) {
  TraceSummary summary = summarise(*chosen.recording, *chosen.trace);
  if (chosen.made) {
    summary.edits = chosen.made->edits;
    summary.predicted = chosen.made->predicted;
    summary.pluggable_pools = chosen.made->likeliest.origin->pluggable_pools;
  }
  return summary;
}

}  // namespace memreplay
