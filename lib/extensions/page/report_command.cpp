#include <fmt/format.h>

#include <optional>

#include "core/error.hpp"
#include "extensions/page/answer.hpp"
#include "extensions/page/page.hpp"
#include "extensions/ranks/ranks_beside.hpp"
#include "line/commands.hpp"
#include "line/each_recording.hpp"
#include "line/options.hpp"
#include "line/output_file.hpp"
#include "line/terminal.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kCurvePoints = 4000;
constexpr std::uint64_t kLeastRuns = 8;

struct Asked {
  InputOptions input;
  ReplayQuestion run;
  PageQuestion page;
  OutputPath target;
  OutputPath svg;
  bool quiet = false;
};

void add_page_options(CommandLine& line, Asked& asked) {
  line.value("--from", "N",
             "First event that the page shows in full. Default: all, up to 1,200,000.",
             [&](const std::string& text) { asked.page.from = whole_argument("--from", text); });
  line.value("--to", "N", "First event after them, left out. Default: see --from.",
             [&](const std::string& text) { asked.page.to = whole_argument("--to", text); });
  line.value(
      "--runs", "N",
      "Settings to try; 0: none. Default: 200, fewer if long; at an OOM as many as tune.",
      [&](const std::string& text) {
        asked.page.explain.runs = whole_argument("--runs", text);
        if (asked.page.explain.runs > std::uint64_t{0} && asked.page.explain.runs < kLeastRuns) {
          throw UsageError("--runs: expected 0, or 8 or more");
        }
      });
}

void add_options(CommandLine& line, Asked& asked) {
  add_input_options(line, asked.input);
  add_edit_option(line, asked.input);
  add_page_options(line, asked);
  add_strategy_options(line, asked.run);
  add_device_options(line, asked.run);
  add_start_options(line, asked.run);
  const CommandLine::Group group(line, "Output");
  line.output("-o,--output", "F.html", "Write the page here; - is standard output. Required.",
              asked.target);
  line.output(
      "--svg", "F",
      "Write what is live over the events here, too: one picture, before anything is replayed.",
      asked.svg);
  add_quiet_option(line, asked.quiet);
}

void require_target(const OutputPath& target) {
  if (target.empty()) throw UsageError("where to? (memreplay report TRACE -o F.html)");
  target.require_page();
}

}  // namespace

int run_report(const Command& command, const std::vector<std::string>& arguments) {
  Asked asked;
  CommandLine line(command);
  add_options(line, asked);
  line.parse(arguments);
  require_paths(asked.input, command);
  require_target(asked.target);
  asked.page.replay = {.strategies = asked.run.strategies, .setup = asked.run.setup};
  asked.page.replay.setup.points = kCurvePoints;

  OutputFile out(asked.target);
  std::optional<OutputFile> svg;
  if (!asked.svg.empty()) svg.emplace(asked.svg);
  const auto devices = open_devices(asked.run.setup, asked.run.strategies);
  Progress progress(asked.quiet);
  const Inputs inputs = read_inputs(asked.input, progress);
  PageAnswer page =
      answer(inputs, devices, asked.page, progress.control(), [&](const Subject& subject) {
        if (!svg) return;
        write_blocks_picture(subject, svg->stream());
        svg->commit();
      });
  if (!page.interrupted) {
    page.ranks = ranks_of(asked.input, asked.run.strategies, asked.page.replay.setup, progress);
  }
  progress.clear();
  if (page.interrupted) return kInterrupted;
  write_page(page, MEMREPLAY_VERSION, out.stream());
  out.commit();
  if (asked.quiet) return kDone;
  tell_written(asked.target, "a page for any browser");
  if (svg) tell_written(asked.svg, "a picture");
  return kDone;
}

}  // namespace memreplay
