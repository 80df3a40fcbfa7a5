#include "inputs.hpp"

#include "core/error.hpp"
#include "summaries.hpp"

namespace memreplay {

Subject Chosen::subject(Progress& progress) const {
  if (is_torch(*recording)) progress.show("reading " + recording->path, 0);
  return Subject(*recording, *trace);
}

Inputs::Inputs(const InputOptions& input) {
  for (const std::string& path : input.paths) {
    const Recording& recording = recordings_.emplace_back(read_recording(path, input.read));
    const auto traces = chosen_traces(recording, input.gpu);
    if (traces.empty()) {
      throw InputError(recording.path, "", "has neither events nor memory; nothing to replay");
    }
    for (const Trace* trace : traces) chosen_.push_back({&recording, trace});
  }
}

std::optional<VerifyRun> model_check(const Subject& subject) {
  if (!subject.verified()) return std::nullopt;
  return summarise(*subject.verified());
}

}  // namespace memreplay
