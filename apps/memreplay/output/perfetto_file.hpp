#pragma once

#include <optional>

#include "analysis/recorded/inputs.hpp"
#include "output/output_file.hpp"
#include "report/run/perfetto.hpp"

namespace memreplay {

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

}  // namespace memreplay
