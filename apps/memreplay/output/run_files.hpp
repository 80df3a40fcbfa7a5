#pragma once

#include <memory>
#include <optional>
#include <string>

#include "device/watch/heard_device.hpp"
#include "options/options.hpp"
#include "output/output_file.hpp"
#include "replay/watch/outputs.hpp"

namespace memreplay {

/// The files of one run, opened when this is made. Without `commit` none of them appears.
class RunFiles {
 public:
  /// `number` replaces {n} in the paths of `options`.
  RunFiles(const RunOptions& options, std::size_t number);

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
bool wants_files(const RunOptions& options);

/// Throws UsageError where `runs` runs would write the same file, or several things are to go to
/// standard output.
void check_outputs(const RunOptions& options, const ReportOptions& reports, std::size_t runs);

/// Some output of the runs goes to standard output, where a text report would be in the way.
bool takes_stdout(const RunOptions& options);

}  // namespace memreplay
