#include <fmt/format.h>

#include "core/error.hpp"
#include "extensions/workloads/workload.hpp"
#include "line/commands.hpp"
#include "line/options.hpp"
#include "line/output_file.hpp"
#include "line/terminal.hpp"
#include "trace/writer.hpp"

namespace memreplay {
namespace {

void add_workload_options(CommandLine& line, WorkloadOptions& options) {
  line.value("--events", "N", "Number of events. Default: 1000000.",
             [&](const std::string& text) { options.events = whole_argument("--events", text); });
  line.value("--live", "N", "Blocks that are live at once, roughly. Default: the workload's.",
             [&](const std::string& text) { options.live = text; });
  line.value("--seed", "N", "The same seed gives the same trace. Default: 1.",
             [&](const std::string& text) { options.seed = whole_argument("--seed", text); });
}

/// Thrown out of a workload, which goes on until it has its events.
struct Interrupted {};

/// Without keeping the events where the format can be written so.
Losses write(const std::string& workload, const WorkloadOptions& options, const WriterInfo& writer,
             std::ostream& out, const Control& control) {
  const std::unique_ptr<EventSink> sink = writer.open != nullptr ? writer.open(out) : nullptr;
  EventColumns all;
  std::uint64_t made = 0;
  Recording recording = generate(workload, options, [&](const EventColumns& events) {
    if (control.stopped()) throw Interrupted();
    made += events.ops.size();
    control.show("generating", static_cast<double>(made) / static_cast<double>(options.events));
    sink ? sink->add(0, events) : append(events, all);
  });
  if (sink) {
    sink->finish(recording);
    return {};
  }
  static_cast<EventColumns&>(recording.traces.front()) = std::move(all);
  return writer.write(recording, out);
}

}  // namespace

int run_generate(const Command& command, const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  OutputPath target;
  WorkloadOptions options;
  const WriterInfo* writer = nullptr;
  bool quiet = false;
  CommandLine line(command);
  line.inputs("KIND", names);
  line.output_behind_inputs("OUT", target);
  add_workload_options(line, options);
  add_writer_option(line, writer);
  add_quiet_option(line, quiet);
  line.parse(arguments);
  if (names.size() != 1 || target.empty()) {
    throw UsageError("generate what, and where? (memreplay generate KIND OUT)");
  }
  if (writer == nullptr) writer = &writer_for(target.text());
  if (writer->needs_addresses) {
    throw UsageError(
        fmt::format("{}: a workload has no addresses; expected NAME.mrt or NAME.csv (convert -s "
                    "adds addresses)",
                    target.text()));
  }
  OutputFile out(target);
  Progress progress(quiet);
  try {
    const Losses losses = write(names.front(), options, *writer, out.stream(), progress.control());
    progress.clear();
    out.commit();
    for (const std::string& loss : losses) write_stderr(target.text() + ": " + loss);
    if (!quiet) tell_written(target, writer->name);
  } catch (const Interrupted&) {
    return kInterrupted;
  }
  return kDone;
}

}  // namespace memreplay
