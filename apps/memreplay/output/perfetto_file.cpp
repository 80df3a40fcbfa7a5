#include "output/perfetto_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/recorded/steps.hpp"
#include "core/gpu_label.hpp"
#include "core/text.hpp"

namespace memreplay {

PerfettoFile::PerfettoFile(const OutputPath& path, const std::vector<Chosen>& chosen)
    : path_(path.text()), several_(chosen.size() > 1) {
  if (path.empty()) return;
  file_.emplace(path);
  const bool timed =
      std::ranges::all_of(chosen, [](const Chosen& one) { return has_clock(one.trace->times_us); });
  writer_.emplace(file_->stream(),
                  timed ? PerfettoClock::recorded_us : PerfettoClock::event_number);
}

std::string PerfettoFile::name_of(const Chosen& chosen) const {
  return several_ ? fmt::format("{} {}: ", chosen.recording->path, gpu_label(chosen.trace->gpu))
                  : "";
}

void PerfettoFile::add_phases(const Chosen& chosen) {
  if (!wanted()) return;
  writer_->add_phases(name_of(chosen) + "phases",
                      annotated_phases(*chosen.recording, *chosen.trace), chosen.trace->size(),
                      chosen.trace->times_us);
}

void PerfettoFile::add_run(const Chosen& chosen, const std::string& run,
                           const RunPicture& picture) {
  if (!wanted()) return;
  writer_->add_run(name_of(chosen) + run, picture, chosen.trace->times_us);
  left_out_ += picture.ooms_left_out + picture.retries_left_out + picture.segments_left_out;
}

void PerfettoFile::commit(bool quiet) {
  if (!wanted()) return;
  writer_->finish();
  file_->commit();
  if (left_out_ == 0 || quiet) return;
  write_stderr(fmt::format("{}: {} OOMs, retries and segments were left out; --points N keeps more",
                           path_, human_count(left_out_)));
}

}  // namespace memreplay
