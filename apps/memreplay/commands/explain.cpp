#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "core/error.hpp"
#include "core/text.hpp"
#include "line/commands.hpp"
#include "line/each_recording.hpp"
#include "line/options.hpp"
#include "line/printing.hpp"
#include "line/shared_options.hpp"
#include "line/terminal.hpp"
#include "questions/explain/answer.hpp"
#include "questions/explain/explain_report.hpp"

namespace memreplay {
namespace {

// "forward=100:250"
Phase phase_argument(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  const std::size_t colon = text.rfind(':');
  if (equals != std::string::npos && colon != std::string::npos && equals < colon && equals > 0) {
    const auto from = parse_whole(text.substr(equals + 1, colon - equals - 1));
    const auto to = parse_whole(text.substr(colon + 1));
    if (from && to && *from < *to) return {text.substr(0, equals), *from, *to, 0};
  }
  throw UsageError(
      fmt::format("--phase is '{}'; expected NAME=FROM:TO, events in [FROM, TO)", text));
}

At at_argument(const std::string& text) {
  using Kind = At::Kind;
  if (const auto event = parse_whole(text)) return {Kind::event, *event};
  constexpr std::array kKinds = {Kind::oom, Kind::peak, Kind::reserved_peak};
  const std::vector<std::string> names = {"oom", "peak", "reserved-peak"};
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) {
    throw UsageError(
        fmt::format("--at is '{}'; expected oom, peak, reserved-peak or the number of an event{}",
                    text, did_you_mean(text, names)));
  }
  return {kKinds.at(static_cast<std::size_t>(found - names.begin()))};
}

/// Whether it may be found only later that some device has no answer.
bool may_be_refused(const InputOptions& input, const ExplainQuestion& question) {
  return input.gpu || question.at.kind == At::Kind::event || question.at.kind == At::Kind::oom ||
         !question.phases.empty();
}

/// Says what is known before a search that may take long; `holds_back`: not before all is known.
class Telling {
 public:
  Telling(const Printer& printer, const TextStyle& style, Progress& progress, bool holds_back)
      : printer_(printer),
        shown_(printer.shows_text()),
        style_(style),
        progress_(progress),
        holds_back_(holds_back) {}

  void all_is_known() {
    if (std::exchange(holds_back_, false)) say(std::exchange(held_, {}));
  }

  ExplainProgress progress() {
    return {
        .on_explained = [this](const ExplainedDevice& device) { say_explained(device); },
        .on_searched =
            [this](const ExplainedDevice& device) { say(searched_text(device, style_, lines_)); }};
  }

 private:
  void say_explained(const ExplainedDevice& device) {
    const std::string text = (first_ ? "" : "\n") + explained_text(device, style_);
    lines_ = static_cast<std::size_t>(std::ranges::count(text, '\n'));
    first_ = false;
    say(text);
  }

  void say(const std::string& text) {
    if (holds_back_) {
      held_ += text;
      return;
    }
    progress_.clear();
    if (!shown_ || write_stdout(text, style_)) return;
    if (!printer_.writes_files()) throw ClosedOutput();
    shown_ = false;
  }

  const Printer& printer_;
  bool shown_;
  TextStyle style_;
  bool first_ = true;
  std::size_t lines_ = 0;  ///< said of the device
  Progress& progress_;
  bool holds_back_;
  std::string held_;
};

}  // namespace

int run_explain(const Command& command, const std::vector<std::string>& arguments) {
  InputOptions input;
  ReplayQuestion options;
  ReportOptions reports;
  ExplainQuestion question;
  CommandLine line(command);
  add_input_options(line, input);
  add_edit_option(line, input);
  line.value("--at", "oom|peak|reserved-peak|EVENT",
             "Look at the memory right after this event. Default: the first OOM, else the live "
             "peak.",
             [&](const std::string& text) { question.at = at_argument(text); });
  line.repeated("--phase", "NAME=FROM:TO",
                "Also show the peaks of events [FROM, TO), beside annotated phases.",
                [&](const std::string& text) { question.phases.push_back(phase_argument(text)); });
  add_place_options(line, question.by, question.rows);
  bool unfold = false;
  line.flag("--unfold",
            "Call sites are lines of installed packages too, such as a model of torchvision.",
            unfold);
  line.flag(
      "--by-phase",
      "Show the waste at the peak of each phase, or else step, and which call site holds most.",
      question.by_phase);
  line.flag("--growth",
            "Show leaks: call sites that hold more memory after each step of the program.",
            question.growth);
  line.flag("--tree", "Show the callers of the code that holds live memory.", question.tree);
  add_strategy_options(line, options);
  add_device_options(line, options);
  add_report_options(line, reports, Has::stacks);
  line.parse(arguments);
  require_paths(input, command);
  if (unfold) question.by = PlaceBy::unfolded;
  if (options.strategies.size() > 1) {
    throw UsageError("explain looks at one strategy at a time; give -s once");
  }
  if (!options.strategies.empty()) question.strategy = options.strategies.front();
  question.setup = options.setup;
  input.read.takes_texts = true;
  question.stacks = std::ranges::any_of(reports.files, [](const ReportOptions::File& file) {
    return file.format->needs == ReportFormat::Needs::stacks;
  });

  Printer printer(reports);
  Progress progress(reports.quiet);
  const Control control = progress.control();
  print_ranks(printer, input, options.strategies, options.setup, progress, reports.colour);
  Telling telling(printer, terminal_style(reports.colour), progress,
                  may_be_refused(input, question));
  ExplainAnswer all;
  question.among_others = input.paths.size() > 1;
  // The next are read while one is explained, and its explanation appears.
  const auto read = [](const InputOptions& one) { return Inputs(one); };
  const int status = EachRecording(input, progress).ask(read, [&](const Inputs& inputs) {
    ExplainAnswer answered = answer(inputs, question, control, telling.progress());
    std::ranges::move(answered.devices, std::back_inserter(all.devices));
    all.interrupted |= answered.interrupted;
    return !answered.interrupted;
  });
  telling.all_is_known();
  progress.clear();
  if (!all.devices.empty()) printer.print(all, false);
  return all.interrupted ? kInterrupted : status;
}

}  // namespace memreplay
