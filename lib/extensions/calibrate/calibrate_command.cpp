#include <memory>

#include "core/error.hpp"
#include "extensions/calibrate/answer.hpp"
#include "extensions/calibrate/calibrate_report.hpp"
#include "line/command_line.hpp"
#include "line/commands.hpp"
#include "line/options.hpp"
#include "line/output_file.hpp"
#include "line/shared_options.hpp"
#include "line/terminal.hpp"
#include "run/devices.hpp"

namespace memreplay {
namespace {

struct CalibrateCommand {
  std::optional<DeviceChoice> device;
  OutputPath output;
  std::optional<OutputPath> json;
  CalibrateQuestion question;
  bool quiet = false;
  Colour colour = Colour::automatic;
};

CalibrateCommand parse_calibrate(const Command& command,
                                 const std::vector<std::string>& arguments) {
  CalibrateCommand asked;
  CommandLine line(command);
  line.value("--device", "host|cuda[:N]", "The device whose calls are measured.",
             [&](const std::string& text) { asked.device = device_argument(text); });
  line.value(
      "--largest", "SIZE", "Largest size to measure. Default: 1GiB.",
      [&](const std::string& text) { asked.question.largest = size_argument("--largest", text); });
  line.value("--repeat", "N", "Calls of each kind and size. Default: 32.",
             [&](const std::string& text) {
               asked.question.repeats = whole_argument("--repeat", text);
               if (asked.question.repeats == 0) {
                 throw UsageError("--repeat is 0; expected 1 or more");
               }
             });
  const CommandLine::Group group(line, "Output");
  line.output("-o,--output", "F", "Write the profile here, for --cost F. Default: not written.",
              asked.output);
  line.optional_file("--json", "The same profile, to standard output or a file.",
                     [&](const OutputPath& path) { asked.json = path; });
  line.flag("--quiet,-q", "No text, no progress. Default: off.", asked.quiet);
  add_colour_option(line, asked.colour);
  line.parse(arguments);
  if (asked.json && !asked.output.empty()) {
    throw UsageError("-o and --json write the same profile; expected one");
  }
  if (asked.json) asked.output = *asked.json;
  if (!asked.device || asked.device->kind == DeviceChoice::Kind::sim) {
    throw UsageError("calibrate measures a real device; which one? --device cuda:0 or host");
  }
  return asked;
}

}  // namespace

int run_calibrate(const Command& command, const std::vector<std::string>& arguments) {
  const CalibrateCommand asked = parse_calibrate(command, arguments);
  Setup setup;
  setup.devices = {*asked.device};
  const std::vector<OpenDevice> devices = open_devices(setup);
  std::unique_ptr<OutputFile> output;
  if (!asked.output.empty()) output = std::make_unique<OutputFile>(asked.output);

  Progress progress(asked.quiet);
  const CalibrateAnswer answered =
      answer(*devices.front().memory, asked.question, progress.control());
  progress.clear();
  const bool finished = answered.calibration.finished;
  if (output && finished) output->write([&](std::ostream& out) { out << to_json(answered); });
  if (!asked.quiet && !asked.output.is_stdout()) {
    const TextStyle style = terminal_style(asked.colour);
    write_stdout(to_text(answered, style), style);
  }
  return finished ? kDone : kInterrupted;
}

}  // namespace memreplay
