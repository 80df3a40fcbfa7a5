#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "analysis/page/placed_blocks.hpp"
#include "analysis/page/trace_picture.hpp"
#include "commands/runs.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "explaining.hpp"
#include "inputs.hpp"
#include "options/command_line.hpp"
#include "options/options.hpp"
#include "output/output_file.hpp"
#include "report/page/page.hpp"
#include "summaries.hpp"

namespace memreplay {
namespace {

constexpr std::uint64_t kCurvePoints = 4000;
/// More than these would make the page larger than people send.
constexpr std::uint64_t kMostEvents = 1'200'000;

struct Asked {
  std::optional<std::uint64_t> from;
  std::optional<std::uint64_t> to;
  ExplainAsked explain = {.search_events = 20'000'000};
};

std::vector<StrategySpec> usual_strategies(const Recording& recording, const RunOptions&) {
  std::vector<StrategySpec> specs = {usual_strategy(recording)};
  for (const char* name : {"torch:expandable_segments=True", "bfc"}) {
    specs.push_back(parse_strategy(name));
  }
  return specs;
}

EventWindow window_of(const Trace& trace, const Asked& asked) {
  if (!asked.from && !asked.to) return window_of_interest(trace, kMostEvents);
  const EventWindow window{asked.from.value_or(0),
                           std::min<std::uint64_t>(asked.to.value_or(trace.size()), trace.size())};
  if (window.from < window.to) return window;
  throw UsageError(fmt::format("--from {} --to {}: no event lies there; the recording has {}",
                               window.from, window.to, trace.size()));
}

std::vector<std::string> settings_said(const ExplainReport& explained, const RunOptions& options) {
  std::vector<std::string> said;
  const TraceSummary& trace = explained.trace;
  said.push_back(trace.settings ? fmt::format("Recorded under {}.", trace.settings->empty()
                                                                        ? "the default settings"
                                                                        : *trace.settings)
                                : "The recording does not state its settings.");
  if (explained.model_check) {
    said.push_back(
        fmt::format("By the rules of PyTorch {}.", explained.model_check->torch_version));
  }
  said.push_back(options.device.capacity
                     ? fmt::format("Replayed on a simulated device of {}.",
                                   human_size(*options.device.capacity))
                     : "Replayed on a simulated device without a limit (--capacity gives one).");
  return said;
}

/// Makes the pages' pictures while the replays run.
class PageMaker final : public RunsWatcher {
 public:
  PageMaker(const Asked& asked, const RunOptions& options, bool quiet)
      : asked_(asked), options_(options), progress_(quiet) {}

  void begin_trace(const Chosen& chosen, const Subject& subject) override {
    PageDevice& device = devices_.emplace_back();
    device.trace = picture_of(subject, window_of(subject.trace(), asked_));
    ExplainAsked explain = asked_.explain;
    explain.run = options_;
    explain.run.strategies.clear();
    device.explained = explained(chosen, subject, explain, progress_);
    device.settings = settings_said(device.explained, options_);
    progress_.clear();
  }

  void begin_run(const Trace& trace, const DeviceLog& log, ObserverGroup& observers) override {
    observers.add(places_.emplace(trace, devices_.back().trace, log));
  }

  void end_run() override { devices_.back().placed.push_back(places_->finish()); }

  Page page(std::vector<ReplayReport> reports) {
    Page page{.version = MEMREPLAY_VERSION, .devices = {}};
    for (std::size_t d = 0; d < reports.size(); ++d) {
      devices_[d].report = std::move(reports[d]);
      page.devices.push_back(std::move(devices_[d]));
    }
    return page;
  }

 private:
  const Asked& asked_;
  const RunOptions& options_;
  Progress progress_;
  std::deque<PageDevice> devices_;
  std::optional<PlaceRecorder> places_;
};

}  // namespace

int run_report(const Command& command, const std::vector<std::string>& arguments) {
  InputOptions input;
  RunOptions options;
  ReportOptions reports;
  Asked asked;
  std::string target;
  CommandLine line(command);
  add_input_options(line, input);
  line.value("-o,--output", "F.html", "Where the page goes; - is standard output. Needed.",
             [&](const std::string& text) { target = text; });
  line.value("--from", "N", "First event that the page has in full. Default: all, up to 1,200,000.",
             [&](const std::string& text) { asked.from = whole_argument("--from", text); });
  line.value("--to", "N", "First event behind those. Default: likewise.",
             [&](const std::string& text) { asked.to = whole_argument("--to", text); });
  line.value("--runs", "N", "Settings tried for what helps. Default: 200, fewer if long.",
             [&](const std::string& text) {
               asked.explain.most_settings = whole_argument("--runs", text);
               if (asked.explain.most_settings < 8) throw UsageError("--runs: expected 8 or more");
               asked.explain.search_events = UINT64_MAX;
             });
  add_strategy_options(line, options);
  add_device_options(line, options);
  add_start_options(line, options);
  line.flag("--quiet,-q", "No progress. Default: off.", reports.quiet);
  line.parse(arguments);
  require_paths(input, command);
  if (target.empty()) throw UsageError("where to? (memreplay report TRACE -o F.html)");
  if (target != "-" && !target.ends_with(".html")) {
    throw UsageError(
        fmt::format("-o is '{}'; expected NAME.html, or - for standard output", target));
  }

  options.plot = true;
  options.points = kCurvePoints;
  OutputFile out(target);
  PageMaker maker(asked, options, reports.quiet);
  Runs runs = run_all(input, options, reports, usual_strategies, &maker);
  if (runs.interrupted) return kInterrupted;
  write_page(maker.page(std::move(runs.reports)), out.stream());
  out.commit();
  return kDone;
}

}  // namespace memreplay
