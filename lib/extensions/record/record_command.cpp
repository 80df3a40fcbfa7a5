#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "core/error.hpp"
#include "core/text.hpp"
#include "files/files.hpp"
#include "folders/cache.hpp"
#include "line/command_line.hpp"
#include "line/commands.hpp"
#include "line/last_words.hpp"
#include "line/options.hpp"
#include "line/output_file.hpp"
#include "line/printing.hpp"
#include "line/terminal.hpp"
#include "questions/list/list_report.hpp"
#include "record/cudnn_library.hpp"
#include "record/preparation.hpp"
#include "record/session.hpp"
#include "record/sweep.hpp"
#include "report/parts/paragraphs.hpp"

namespace memreplay {
namespace {

struct RecordCommand {
  RecordQuestion question;
  OutputPath output;
  ReportOptions reports;
  std::optional<Sweep> sweep;
  std::string recover;    ///< the folder of calls that were left; empty: a program is recorded
  std::string prepare;    ///< the folder of a torch; empty: a program is recorded
  std::string ask_cudnn;  ///< its folder: answers questions instead of recording
  std::vector<std::string> python;  ///< an interpreter with its flags, which runs the program
  bool is_module = false;           ///< that program is the name of a module
};

// "7:0.01"
std::string chance_argument(const std::string& text) {
  const std::size_t colon = text.find(':');
  const auto seed = parse_whole(text.substr(0, colon));
  if (!seed || colon == text.npos) {
    throw UsageError(fmt::format("--oom-random is '{}'; expected SEED:RATE", text));
  }
  const double rate = number_argument("--oom-random", text.substr(colon + 1));
  if (!(rate > 0 && rate <= 1)) {
    throw UsageError(fmt::format("--oom-random has the rate {}; expected above 0 up to 1", rate));
  }
  return text;
}

void add_virtual_options(CommandLine& line, RecordQuestion& question) {
  const CommandLine::Group group(line, "Virtual GPU");
  VirtualBehaviour& behaviour = question.behaviour;
  line.value("--virtual-gpu", "CARD[:KEY=VALUE,...]",
             "Run on this simulated card, without a GPU (list cards). Keys: memory, context, sm, "
             "multiprocessors, os, count, lag, benchmark.",
             [&](const std::string& text) { question.card = virtual_card(text); });
  line.value("--cudnn", "FOLDER",
             "Ask the cuDNN in this folder (9.8 or later) what its convolutions want on this card. "
             "Default: the one beside torch.",
             [&](const std::string& text) { question.cudnn = text; });
  line.value("--fill", "zeros|nan|random",
             "What the program reads where it looks at a computed value. Default: zeros.",
             [&](const std::string& text) {
               const std::vector<std::string> fills = {"zeros", "nan", "random"};
               behaviour.fill = fills[choice_argument("--fill", text, fills)];
             });
  line.value("--seed", "N", "Seed of --fill random. Default: 0.",
             [&](const std::string& text) { behaviour.seed = whole_argument("--seed", text); });
  line.value("--address-policy", "cuda-linux|upward",
             "Order of addresses: as NVIDIA's driver under Linux, or always the lowest free. "
             "Default: cuda-linux.",
             [&](const std::string& text) {
               const std::vector<std::string> orders = {"cuda-linux", "upward"};
               behaviour.addresses = orders[choice_argument("--address-policy", text, orders)];
             });
  line.flag("--real-times",
            "Record the time of day of each event, for replay --together. Default: its number, so "
            "that the same program gives the same file.",
            question.real_times);
  line.value("--oom-at", "N", "Fail the N-th request, counted from 1. Default: none.",
             [&](const std::string& text) {
               behaviour.oom_at = whole_argument("--oom-at", text);
               if (behaviour.oom_at == 0) throw UsageError("--oom-at is 0; expected 1 or more");
             });
  line.value("--oom-size", "SIZE", "Fail requests of at least this size. Default: none.",
             [&](const std::string& text) {
               behaviour.oom_size = size_argument("--oom-size", text);
               if (behaviour.oom_size == 0) throw UsageError("--oom-size is 0; expected more");
             });
  line.value("--oom-random", "SEED:RATE",
             "Fail random requests, the same ones for the same seed. Default: none.",
             [&](const std::string& text) { behaviour.oom_random = chance_argument(text); });
}

void add_call_options(CommandLine& line, RecordQuestion& question, std::string& recover) {
  const CommandLine::Group group(line, "Any program");
  line.flag("--malloc",
            "Record its calls of malloc instead, into NAME.mrt or NAME.csv. Default: off.",
            question.calls.malloc);
  line.flag("--cuda", "Record its own calls of CUDA's allocation functions. Default: off.",
            question.calls.cuda);
  line.value("--recover", "FOLDER",
             "Write the calls that an earlier recording left in this folder. Takes no program.",
             [&](const std::string& text) {
               recover = text;
               question.calls.malloc = true;
             });
}

void add_python_options(CommandLine& line, RecordCommand& asked) {
  const CommandLine::Group group(line, "Python program", Shown::in_help_all);
  line.repeated(
      "--python", "WORD",
      "Its interpreter, then the interpreter's flags; python -m memreplay run passes its own.",
      [&](const std::string& word) { asked.python.push_back(word); });
  line.flag("-m", "PROGRAM is a module, as in python -m; with --python. Default: off.",
            asked.is_module);
}

/// The program with what runs it.
std::vector<std::string> command_of(const RecordCommand& asked) {
  if (asked.is_module && asked.python.empty()) {
    throw UsageError("-m belongs to Python; expected record ... -- python -m MODULE");
  }
  std::vector<std::string> words = asked.python;
  if (asked.is_module) words.emplace_back("-m");
  words.insert(words.end(), asked.question.program.begin(), asked.question.program.end());
  return words;
}

/// Each of several ranks may have its own `record`, in one folder.
bool is_a_rank() {
  const auto variables = {"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"};
  return std::ranges::any_of(variables, [](const char* one) { return std::getenv(one); });
}

/// What must go together, and what the options leave open.
void complete(RecordCommand& asked) {
  RecordQuestion& question = asked.question;
  if (!asked.recover.empty() && !question.program.empty()) {
    throw UsageError("--recover writes an earlier recording; expected no program");
  }
  if (asked.prepare.empty() && asked.ask_cudnn.empty() && asked.recover.empty() &&
      question.program.empty()) {
    throw UsageError(
        "record needs a program: memreplay record [--virtual-gpu CARD] -- python "
        "train.py");
  }
  if (question.behaviour != VirtualBehaviour{} && !question.card) {
    throw UsageError(
        "--fill and --oom-... work on a virtual GPU only; expected --virtual-gpu CARD");
  }
  if (!question.cudnn.empty() && !question.card) {
    throw UsageError("--cudnn is asked for a virtual GPU; expected --virtual-gpu CARD");
  }
  if (question.calls.any() && question.card) {
    throw UsageError("--malloc and --cuda record on the real machine; expected no --virtual-gpu");
  }
  question.output = !asked.output.empty()  ? asked.output.text()
                    : question.calls.any() ? "recording.mrt"
                    : is_a_rank()          ? "recording-rank{rank}.pickle"
                                           : "recording.pickle";
  if (!question.program.empty()) question.program = command_of(asked);
  if (question.calls.any()) expect_calls_in(question.output);
  if (question.calls.any() && asked.sweep) {
    throw UsageError("--sweep compares what torch reserves; expected no --malloc, no --cuda");
  }
}

RecordCommand parse_record(const Command& command, const std::vector<std::string>& arguments) {
  RecordCommand asked;
  RecordQuestion& question = asked.question;
  CommandLine line(command);
  line.program(question.program);
  line.output("-o,--output", "F",
              "Write the recording here; {rank} is replaced by the rank. Default: recording.pickle "
              "or .mrt; if record runs once per rank, recording-rank{rank}.pickle.",
              asked.output);
  line.value("--stacks", "python|all|none",
             "Which frames of each event's stack to keep. Default: python.",
             [&](const std::string& text) {
               const std::vector<std::string> kept = {"python", "all", "none"};
               question.stacks = kept[choice_argument("--stacks", text, kept)];
             });
  line.value("--max-entries", "N", "Most events to keep in the history. Default: all.",
             [&](const std::string& text) {
               question.max_entries = whole_argument("--max-entries", text);
             });
  line.value(
      "--at-step", "N", "Write it after the N-th step of an optimizer. Default: at the end.",
      [&](const std::string& text) { question.at_step = whole_argument("--at-step", text); });
  line.value("--sweep", "NAME=VALUE,...",
             "Run the program once for each value, put in place of {NAME} in its arguments.",
             [&](const std::string& text) { asked.sweep = sweep_argument(text); });
  line.value("--prepare", "FOLDER",
             "Prepare the torch in this folder for a virtual GPU; prints where, as JSON.",
             [&](const std::string& text) { asked.prepare = text; });
  line.value("--ask-cudnn", "FOLDER",
             "Answer what a recorded program asks of the cuDNN in this folder, from standard input "
             "to standard output; record starts it.",
             [&](const std::string& text) { asked.ask_cudnn = text; });
  add_virtual_options(line, question);
  add_call_options(line, question, asked.recover);
  add_python_options(line, asked);
  add_report_options(line, asked.reports);
  line.parse(arguments);
  complete(asked);
  return asked;
}

/// At an OOM that nobody asked for the recording ends with what explain says.
void explain(const RecordAnswer& answered) {
  for (const RecordedProcess& process : answered.processes) {
    const bool all_refused = process.virtual_gpu && process.virtual_gpu->refusals >= process.ooms;
    if (process.ooms == 0 || process.path.empty() || all_refused) continue;
    const Command& command = command_named("explain");
    try {
      if (write_stdout("\n", terminal_style())) command.run(command, {process.path});
    } catch (const ClosedOutput&) {
    }
    return;
  }
}

std::string left_in(const std::string& folder, bool only_calls, bool still_runs) {
  std::string said = fmt::format(
      "{} {}", still_runs ? "what still runs writes to" : "what was recorded stays in", folder);
  if (only_calls) {
    said += fmt::format("; memreplay record --recover {} -o NAME.mrt writes it{}",
                        shell_word(folder), still_runs ? " when that has ended" : "");
  }
  return said;
}

/// What could not be written, or is not whole, and where it is. False where anything failed.
bool tell_failures(const RecordAnswer& answered) {
  for (const std::string& failure : answered.failed) write_stderr(failure);
  const bool all_written = answered.failed.empty();
  if (answered.left.empty()) return all_written;
  write_stderr(left_in(answered.left, answered.only_calls, all_written));
  return all_written;
}

int run_sweep(const RecordCommand& asked, const Cache& cache, Printer& printer) {
  Progress progress(asked.reports.quiet);
  const SweepAnswer answered = answer(
      asked.question, *asked.sweep, cache, progress.control(), [&](const std::string& value) {
        progress.clear();
        if (!asked.reports.quiet) write_stderr(fmt::format("{}={}", asked.sweep->name, value));
      });
  progress.clear();
  printer.print(answered);
  bool is_written = true;
  for (const SweepPoint& point : answered.points)
    is_written = tell_failures(point.answer) && is_written;
  return answered.interrupted ? kInterrupted : is_written ? kDone : kUnusable;
}

int print(const RecordAnswer& answered, Printer& printer) {
  printer.print(answered);
  const bool is_written = tell_failures(answered);
  if (is_written && printer.shows_text()) explain(answered);
  return is_written ? answered.end.status : kUnusable;
}

}  // namespace

std::vector<SchemaDocument> recorded_documents() {
  return {{"record", [](JsonFields& f) { fields(f, RecordAnswer()); }},
          {"record_sweep", [](JsonFields& f) { fields(f, SweepAnswer()); }}};
}

int run_record(const Command& command, const std::vector<std::string>& arguments) {
  RecordCommand asked = parse_record(command, arguments);
  asked.question.lies_in = [calls = asked.question.calls.any()](const std::string& folder) {
    set_left_behind(folder.empty() ? "" : left_in(folder, calls, false));
  };
  Printer printer(asked.reports);
  if (!asked.recover.empty()) {
    return print(recover(asked.recover, asked.question.output), printer);
  }
  Cache cache;
  if (!asked.ask_cudnn.empty()) {
    const auto driver = embedded_folder(cache) / "memreplay_driver.so";
    answer_graphs(asked.ask_cudnn, driver.string(), std::cin, std::cout);
    return kDone;
  }
  if (!cache.note().empty()) write_stderr(cache.note());
  if (!asked.prepare.empty()) {
    write_stdout(
        to_json(prepared(cache, asked.prepare, asked.question.card, asked.question.behaviour)),
        terminal_style());
    return kDone;
  }
  if (asked.question.card) {
    for (const std::string& note : prepare_for(asked.question.program, cache)) write_stderr(note);
  }
  if (asked.sweep) return run_sweep(asked, cache, printer);
  Progress progress(asked.reports.quiet);
  const RecordAnswer answered = answer(asked.question, cache, progress.control());
  progress.clear();
  return print(answered, printer);
}

}  // namespace memreplay
