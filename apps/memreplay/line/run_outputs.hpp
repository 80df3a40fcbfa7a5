#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "device/watch/heard_device.hpp"
#include "line/options.hpp"
#include "line/output_file.hpp"
#include "questions/replay/perfetto.hpp"
#include "replay/watch/outputs.hpp"
#include "run/inputs.hpp"
#include "run/question.hpp"

namespace memreplay {

/// The files of one run, opened when this is made. Without `commit` none of them appears.
class RunFiles {
 public:
  /// `number` replaces {n} in `paths`.
  RunFiles(const RunPaths& paths, std::size_t number);

  /// Adds the watchers that write the files. To be called once, before the replay; `trace` and
  /// `log` live until `finish`.
  void add_writers(const Trace& trace, const DeviceLog& log, WatcherGroup& also);
  /// After the replay: the segments at the end, and the last rows.
  void finish(const Strategy& strategy);
  void commit();

 private:
  std::unique_ptr<OutputFile> placements_;
  std::unique_ptr<OutputFile> timeline_;
  std::unique_ptr<OutputFile> device_events_;
  std::unique_ptr<OutputFile> segments_;
  const Trace* trace_ = nullptr;
  std::optional<PlacementRows> placement_rows_;
  std::optional<TimelineRows> timeline_rows_;
  std::optional<DeviceEventRows> device_event_rows_;
};

/// Whether every run is to write some file.
bool wants_files(const RunPaths& paths);

/// Throws UsageError where `runs` runs would write the same file, or several things are to go to
/// standard output.
void check_outputs(const RunPaths& paths, const ReportOptions& reports, std::size_t runs);

/// Some output of the runs goes to standard output, where a text report would be in the way.
bool takes_stdout(const RunPaths& paths);

/// The file of `--perfetto`, opened when this is made: all runs of all traces on one axis.
class PerfettoFile {
 public:
  /// The axis is recorded time where all of `chosen` have it. Does nothing with an empty path.
  PerfettoFile(const OutputPath& path, const std::vector<Chosen>& chosen);

  bool wanted() const { return file_.has_value(); }
  void add_phases(const Chosen& chosen);
  void add_run(const Chosen& chosen, const std::string& run, const RunPicture& picture);
  /// Says on standard error what was left out, unless `quiet`.
  void commit(bool quiet);

 private:
  std::string name_of(const Chosen& chosen) const;

  std::string path_;
  bool several_;
  std::optional<OutputFile> file_;
  std::optional<PerfettoWriter> writer_;
  std::uint64_t left_out_ = 0;
};

/// The files that runs are written to while they are made. Without `commit` none of them appears.
class RunOutputs final : public Watcher {
 public:
  /// Both outlive this.
  RunOutputs(const RunPaths& paths, const ReportOptions& reports);

  /// What writes them. Opens the files before the runs; throws UsageError where two would write the
  /// same one.
  RunsProgress progress();

  bool needs_device_log() const override;
  bool shows_places() const override;
  void on_run(const Subject& subject, const Trial& trial, WatcherGroup& also) override;
  void on_run_end(const Trial& trial) override;
  void commit();

 private:
  void open(const Inputs& inputs, std::size_t runs);
  void add(const Chosen& chosen, Run& run);

  const RunPaths& paths_;
  const ReportOptions& reports_;
  std::optional<PerfettoFile> perfetto_;
  std::deque<RunFiles> files_;  ///< by run
  std::size_t begun_ = 0;       ///< runs so far
};

}  // namespace memreplay
