#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <optional>
#include <thread>

#include "core/error.hpp"
#include "extensions/planner/plan/answer.hpp"
#include "extensions/planner/plan/plan_report.hpp"
#include "line/commands.hpp"
#include "line/each_recording.hpp"
#include "line/options.hpp"
#include "line/output_file.hpp"
#include "line/printing.hpp"
#include "line/terminal.hpp"
#include "trace/gate.hpp"

namespace memreplay {
namespace {

struct PlanCommand {
  InputOptions input;
  ReportOptions reports;
  PlanQuestion question;
  OutputPath placements;
  OutputPath page;
};

MemoryToFill memory_argument(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == text.npos || text.find_first_of(",\"\n") != text.npos) {
    throw UsageError("--memory is '" + text + "'; expected NAME=SIZE");
  }
  return {text.substr(0, equals), size_argument("--memory", text.substr(equals + 1))};
}

void add_memory_option(CommandLine& line, std::vector<MemoryToFill>& memories) {
  line.repeated("--memory", "NAME=SIZE",
                "One of several memories, filled in the order given. May be repeated.",
                [&memories](const std::string& text) {
                  MemoryToFill memory = memory_argument(text);
                  const auto same = [&](const auto& other) { return other.name == memory.name; };
                  if (std::ranges::any_of(memories, same)) {
                    throw UsageError("--memory " + memory.name + " is there twice");
                  }
                  memories.push_back(std::move(memory));
                });
}

void refuse_both(const PlanQuestion& question) {
  const bool bounded = question.planner.capacity || question.planner.minimise;
  if (question.verify && (bounded || !question.memories.empty())) {
    throw UsageError("--verify makes no plan; expected no --capacity, --minimise or --memory");
  }
  if (question.memories.empty()) return;
  if (bounded) {
    throw UsageError(
        "each --memory has its own size; expected no --capacity or --minimise beside it");
  }
}

void add_plan_options(CommandLine& line, PlanCommand& asked) {
  PlannerOptions& planner = asked.question.planner;
  line.value("--capacity", "SIZE",
             "Memory that the plan must fit in. Default: as little as possible.",
             [&planner](const std::string& text) {
               planner.capacity = size_argument("--capacity", text);
               if (*planner.capacity == 0) {
                 throw UsageError("--capacity is 0; expected the memory of a device");
               }
             });
  add_memory_option(line, asked.question.memories);
  line.flag("--minimise", "Make the plan as small as possible, also below --capacity.",
            planner.minimise);
  line.flag("--verify",
            "Look at the plan that the file carries: overlaps, its height, the lower bound.",
            asked.question.verify);
  line.value("--buffer-assignment", "FILE",
             "XLA's assignment of buffers, beside its live ranges. Default: of the same name.",
             [&asked](const std::string& text) { asked.input.read.buffer_assignment = text; });
  line.value("--timeout", "SECONDS",
             "Stop the search then; the answer is the best so far. Default: 10.",
             [&planner](const std::string& text) {
               planner.seconds = number_argument("--timeout", text);
             });
  line.value("--solver", fmt::format("{}", fmt::join(kSolverNames, "|")),
             "How to search for a plan. Default: automatic, each method as needed.",
             [&planner](const std::string& text) {
               planner.solver = static_cast<PlanSolver>(
                   choice_argument("--solver", text, {kSolverNames.begin(), kSolverNames.end()}));
             });
  line.value("--threads", "N", "Parallel searches. Default: one per processor core.",
             [&planner](const std::string& text) {
               planner.threads = static_cast<unsigned>(
                   std::clamp<std::uint64_t>(whole_argument("--threads", text), 1, 256));
             });
  line.value(
      "--seed", "N", "Seed of the local search. Default: 1.",
      [&planner](const std::string& text) { planner.seed = whole_argument("--seed", text); });
  line.value("--align", "SIZE",
             "Sizes and offsets are multiples of this. Default: 512; 1 for lists of lifetimes.",
             [&asked](const std::string& text) {
               const std::uint64_t alignment = size_argument("--align", text);
               if (!std::has_single_bit(alignment) || alignment > kMostAlignment) {
                 throw UsageError("--align is '" + text + "'; expected a power of two up to 1 TiB");
               }
               asked.question.alignment = alignment;
             });
  line.output("--placements", "F", "Write id,lower,upper,size,offset of every buffer.",
              asked.placements);
  line.output("-o,--output", "F.html", "A page with the picture of the plan. Default: none.",
              asked.page);
}

/// Where each device's placements go.
std::deque<OutputFile> open_placements(const PlanCommand& asked, std::size_t devices) {
  std::deque<OutputFile> files;
  if (asked.placements.empty()) return files;
  if (devices != 1 && !asked.placements.of_each_run()) {
    throw UsageError("--placements for several devices; expected {n} in its name, or --gpu N");
  }
  for (std::size_t i = 0; i < devices; ++i) files.emplace_back(asked.placements.of_run(i + 1));
  return files;
}

void write_files(const PlanCommand& asked, PlanAnswer& answer, std::deque<OutputFile>& files) {
  for (std::size_t i = 0; i < std::min(files.size(), answer.devices.size()); ++i) {
    answer.devices[i].placements = asked.placements.of_run(i + 1).text();
    files[i].write([&](std::ostream& out) { write_placements(answer.devices[i], out); });
  }
}

}  // namespace

int run_plan(const Command& command, const std::vector<std::string>& arguments) {
  PlanCommand asked;
  asked.question.planner.threads = std::max(1u, std::thread::hardware_concurrency());
  CommandLine line(command);
  add_input_options(line, asked.input);
  add_plan_options(line, asked);
  add_report_options(line, asked.reports, Has::text);
  line.parse(arguments);
  require_paths(asked.input, command);
  if (asked.placements.is_stdout() + asked.page.is_stdout() + asked.reports.takes_stdout() > 1) {
    throw UsageError("only one output can go to standard output");
  }
  refuse_both(asked.question);
  asked.page.require_page();
  asked.question.format = asked.input.read.format;
  asked.question.buffer_assignment = asked.input.read.buffer_assignment;

  Printer printer(asked.reports);
  Progress progress(asked.reports.quiet);
  const Inputs inputs = read_inputs(asked.input, progress);
  std::deque<OutputFile> files = open_placements(asked, inputs.chosen().size());
  std::optional<OutputFile> page;
  if (!asked.page.empty()) page.emplace(asked.page);
  PlanAnswer answered = answer(inputs, asked.question, progress.control());
  progress.clear();
  write_files(asked, answered, files);
  if (page) page->write([&](std::ostream& out) { write_page(answered, out); });
  printer.print(answered, !asked.placements.is_stdout() && !asked.page.is_stdout());
  if (answered.interrupted) return kInterrupted;
  return answered.all_fit() ? kDone : kAnswerIsNo;
}

}  // namespace memreplay
