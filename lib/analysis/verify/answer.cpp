#include "analysis/verify/answer.hpp"

#include <algorithm>

#include "analysis/recorded/summary.hpp"
#include "analysis/verify/question.hpp"
#include "verify/verify.hpp"

namespace memreplay {
namespace {

VerifiedFile verified_file(const Recording& recording, const VerifyQuestion& question) {
  const auto traces = chosen_traces(recording, question.input.gpu);
  VerifiedFile file;
  file.trace = traces.empty() ? summarise(recording) : summarise(recording, *traces.front());
  for (const Trace* trace : traces) {
    file.runs.push_back(verify(recording, *trace, question.torch_version, question.device));
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
  VerifyAnswer answer;
  for (const std::string& path : paths) {
    if (control.stopped()) break;
    control.show(path,
                 static_cast<double>(answer.files.size()) / static_cast<double>(paths.size()));
    answer.files.push_back(verified_file(read_recording(path, question.input.read), question));
  }
  answer.interrupted = control.stopped();
  return answer;
}

}  // namespace memreplay
