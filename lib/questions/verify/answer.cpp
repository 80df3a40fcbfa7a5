#include "questions/verify/answer.hpp"

#include <algorithm>

#include "core/parallel.hpp"
#include "program/devices.hpp"
#include "program/summary.hpp"
#include "verify/verify.hpp"

namespace memreplay {
namespace {

VerifiedFile verified_file(const Recording& recording, const VerifyQuestion& question) {
  const auto traces = chosen_traces(recording, question.input.gpu);
  VerifiedFile file;
  file.trace = traces.empty() ? summarise(recording) : summarise(recording, *traces.front());
  for (const Trace* trace : traces) {
    file.runs.push_back(verify(recording, *trace, question.release, question.device));
  }
  if (file.runs.empty()) file.runs.push_back({.reason = "no device with events or memory in it"});
  return file;
}

bool any_run(const VerifyAnswer& answer, bool (*is)(Verdict)) {
  return std::ranges::any_of(answer.files, [is](const VerifiedFile& file) {
    return std::ranges::any_of(file.runs, is, &VerifyRun::verdict);
  });
}

}  // namespace

bool VerifyAnswer::diverged() const {
  return any_run(*this, [](Verdict verdict) {
    return verdict == Verdict::diverged || verdict == Verdict::resynchronised;
  });
}

bool VerifyAnswer::applies() const {
  return any_run(*this, [](Verdict verdict) { return verdict != Verdict::unsupported; });
}

VerifyAnswer answer(const VerifyQuestion& question, const Control& control) {
  const std::vector<std::string>& paths = question.input.paths;
  std::vector<std::vector<std::string>> notes(paths.size());
  VerifyAnswer answer;
  const auto verified = [&](std::size_t i) -> std::optional<VerifiedFile> {
    if (control.stopped()) return std::nullopt;
    ReadOptions read = question.input.read;
    if (read.note) read.note = [&](const std::string& note) { notes[i].push_back(note); };
    return verified_file(read_recording(paths[i], read), question);
  };
  WorkAhead<std::optional<VerifiedFile>> files(paths.size(), readers_at_once(question.input),
                                               verified);
  for (std::size_t i = 0; i < paths.size() && !control.stopped(); ++i) {
    control.show(paths[i], static_cast<double>(i) / static_cast<double>(paths.size()));
    files.wait();
    for (const std::string& note : notes[i]) question.input.read.note(note);
    if (auto file = files.take()) answer.files.push_back(std::move(*file));
  }
  answer.interrupted = control.stopped();
  return answer;
}

}  // namespace memreplay
