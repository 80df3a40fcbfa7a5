#include <fmt/format.h>

#include "command_line.hpp"
#include "core/error.hpp"
#include "options.hpp"
#include "output_file.hpp"
#include "summaries.hpp"
#include "trace/csv.hpp"

namespace memreplay {

int run_convert(const Command& command, const std::vector<std::string>& arguments) {
  InputOptions input;
  CommandLine line(command);
  add_input_options(line, input);
  line.parse(arguments);
  if (input.paths.size() != 2) {
    throw UsageError(fmt::format("{} names given; expected IN and OUT (memreplay convert IN OUT)",
                                 input.paths.size()));
  }
  const std::string& target = input.paths[1];
  if (target != "-" && !target.ends_with(".csv")) {
    throw UsageError(fmt::format(
        "{}: the name does not end in a format that can be written; expected NAME.csv, or - for "
        "CSV on standard output",
        target));
  }
  const Recording recording = read_recording(input.paths[0], input.read);
  const auto traces = chosen_traces(recording, input.gpu);
  if (traces.empty()) throw InputError(recording.path, "", "has no events; nothing to convert");
  if (traces.size() > 1) {
    std::string gpus;
    for (const Trace* trace : traces)
      gpus += fmt::format("{}{}", gpus.empty() ? "" : ", ", trace->gpu);
    throw UsageError(
        fmt::format("{}: has events of gpu {}; choose one with --gpu N", recording.path, gpus));
  }
  OutputFile out(target);
  out.stream() << write_csv(recording, *traces.front());
  out.commit();
  return kDone;
}

}  // namespace memreplay
