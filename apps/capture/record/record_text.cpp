#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <span>

#include "core/text.hpp"
#include "record/answer.hpp"
#include "record/preparation.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kPlacesShown = 5;
constexpr std::size_t kWorkspacesShown = 3;

std::string end_sentence(const ProgramEnd& end) {
  if (end.signal != 0) return fmt::format("The program was ended by signal {}.", end.signal);
  if (end.status != 0) return fmt::format("The program ended with status {}.", end.status);
  return "";
}

// "run.pickle: 3128 events, 1 stream, starts empty; peak reserved 140 MiB, 1 OOM."
std::string recording_sentence(const RecordAnswer& answer, const RecordedProcess& process) {
  const TraceRuns* const runs = answer.runs_of(process);
  const std::string pinned = process.pinned == 0
                                 ? ""
                                 : fmt::format(" It has {} of pinned host memory (--gpu host).",
                                               counted(process.pinned, "event"));
  if (!runs) {
    return fmt::format("{}: the program allocated nothing on a device.{}", process.path, pinned);
  }
  const RunMetrics& metrics = runs->runs.front().metrics;
  return fmt::format("{}: {}; peak allocated {}, peak reserved {}, {}.{}", process.path,
                     coverage_phrase(runs->trace), human_size(metrics.peak_allocated),
                     human_size(metrics.peak_reserved), counted(process.ooms, "OOM"), pinned);
}

std::string switches_sentence(const RecordedProcess& process) {
  if (process.own_switches == 0) return "";
  return fmt::format(
      "The program called _record_memory_history {}: these calls were ignored, so that nothing is "
      "lost; its own dumps have the whole history.",
      process.own_switches == 1 ? "once" : fmt::format("{} times", process.own_switches));
}

/// The line that runs the same program without a GPU, after what asks for it.
std::string on_a_virtual_gpu(const RecordAnswer& answer) {
  std::string line = "memreplay record --virtual-gpu rtx-4090 --";
  for (const std::string& word : answer.program) line += ' ' + shell_word(word);
  return "\n" + line;
}

std::string torch_error_sentence(const RecordAnswer& answer, const std::string& error) {
  if (error.starts_with("No module named 'torch'")) {
    return fmt::format(
        "Nothing was recorded: the program found no torch. With --virtual-gpu CARD it needs none "
        "of NVIDIA's packages:\n{}",
        torch_alone_command(answer.program.front()));
  }
  const std::string said = fmt::format("Nothing was recorded: torch did not load ({}).", error);
  // A library that comes with a driver or with NVIDIA's packages.
  if (answer.card || error.find(".so") == error.npos) return said;
  return fmt::format("{} A simulated GPU needs neither a card nor NVIDIA's libraries:{}", said,
                     on_a_virtual_gpu(answer));
}

constexpr std::string_view kWhyUnwritten =
    "ended by os._exit or a signal before anything was written, or writing failed (see standard "
    "error). --at-step N writes earlier.";

std::string nothing_sentence(const RecordAnswer& answer) {
  if (answer.only_calls) {
    return "Nothing was recorded: the program allocated nothing, or no library can be preloaded "
           "into it (static, setuid), or recording failed (see standard error).";
  }
  if (answer.processes.empty()) {
    return "Nothing was recorded: no process imported torch. A Python started with -S cannot be "
           "recorded, nor one that a static or setuid program starts without its environment, nor "
           "one under a memreplay record of its own.";
  }
  const auto has_loaded = [](const RecordedProcess& one) { return one.torch_error.empty(); };
  if (std::ranges::none_of(answer.processes, has_loaded)) {
    return torch_error_sentence(answer, answer.processes.front().torch_error);
  }
  if (std::ranges::none_of(answer.processes, &RecordedProcess::used_cuda)) {
    const std::string said =
        "Nothing was recorded: the program imported torch and never used CUDA.";
    return answer.card
               ? said
               : fmt::format("{} Without a GPU, simulate one:{}", said, on_a_virtual_gpu(answer));
  }
  return fmt::format("Nothing was recorded: the program {}", kWhyUnwritten);
}

// "Rank 1 (process 4711) used CUDA, and has no recording: it ended by …"
std::string unrecorded_sentence(const std::vector<RecordedProcess>& processes) {
  std::vector<std::string> names;
  for (const RecordedProcess& process : processes) {
    if (!process.used_cuda || !process.path.empty()) continue;
    names.push_back(process.rank ? fmt::format("rank {} (process {})", *process.rank, process.pid)
                                 : fmt::format("process {}", process.pid));
  }
  if (names.empty()) return "";
  const bool one = names.size() == 1;
  return fmt::format("Not all was recorded: {} used CUDA and {} no recording; {} {}",
                     fmt::join(names, ", "), one ? "has" : "have", one ? "it" : "they",
                     kWhyUnwritten);
}

// "train.py:12 (3 times)"
std::string place_phrase(const ReadPlace& place) {
  const std::string where = place.file.empty() ? "outside of the program's Python"
                                               : fmt::format("{}:{}", place.file, place.line);
  return place.times == 1 ? where : fmt::format("{} ({} times)", where, place.times);
}

std::string reads_sentence(const VirtualFacts& facts, const std::string& fill) {
  if (facts.reads == 0) return "";
  std::string text = fmt::format(
      "The program looked {} at values that were never computed, and "
      "got {}: ",
      facts.reads == 1 ? "once" : fmt::format("{} times", facts.reads),
      fill == "zeros" ? fill : fill + " values");
  const std::size_t shown = std::min(facts.read_at.size(), kPlacesShown);
  for (std::size_t i = 0; i < shown; ++i) {
    text += (i == 0 ? "" : ", ") + place_phrase(facts.read_at[i]);
  }
  if (shown < facts.read_at.size()) text += ", …";
  return text + ". Where sizes or branches depend on them, a real run differs.";
}

/// The largest ones.
std::string workspaces_sentence(const VirtualFacts& facts) {
  std::vector<ModelledWorkspace> sorted = facts.workspaces;
  std::ranges::stable_sort(sorted, std::greater(), &ModelledWorkspace::largest);
  const std::size_t shown = std::min(sorted.size(), kWorkspacesShown);
  std::string text;
  for (const ModelledWorkspace& workspace : std::span(sorted).first(shown)) {
    text += fmt::format("{}{} ({}, at most {})", text.empty() ? "Modelled workspaces: " : ", ",
                        workspace.function, counted(workspace.times, "call"),
                        human_size(workspace.largest));
  }
  if (text.empty()) return "";
  const std::size_t others = sorted.size() - shown;
  return text + (others == 0 ? "." : fmt::format(" and {} more (--json).", others));
}

// "cuDNN 9.19.0 itself said which workspaces 53 of its graphs take on this card."
std::string cudnn_sentence(const AskedCudnn& cudnn, bool least_engine) {
  std::string text;
  if (cudnn.graphs > 0) {
    text = fmt::format("The workspaces of {} are those that cuDNN {} itself states for this card.",
                       counted(cudnn.graphs, "cuDNN graph"), cudnn.version);
  }
  if (cudnn.unanswered > 0) {
    text += fmt::format("{}{} by a model: {}.", text.empty() ? "" : " ",
                        cudnn.unanswered == 1 ? "1 cuDNN graph has its workspace"
                                              : fmt::format("{} cuDNN graphs have their workspaces",
                                                            human_count(cudnn.unanswered)),
                        cudnn.why);
  }
  if (cudnn.timed > 0) {
    text += fmt::format(
        " The program sets cudnn.benchmark: on a card the fastest engine of each of {} stays; "
        "which one cannot be known here, and {}. Their largest workspace is between {} and {}.",
        counted(cudnn.timed, "graph"),
        least_engine ? "the one of least workspace stays (benchmark=least)"
                     : "cuDNN's first choice stays; with CARD:benchmark=least it is the one of "
                       "least workspace",
        human_size(cudnn.least), human_size(cudnn.most));
  }
  return text;
}

std::string code_sentence(const VirtualFacts& facts) {
  if (facts.oldest_code == 0) return {};
  return fmt::format(
      "This torch does not run on a real card of that kind: its oldest code is for compute "
      "capability {}.{}.",
      facts.oldest_code / 10, facts.oldest_code % 10);
}

std::string refusals_sentence(const VirtualFacts& facts) {
  std::string text;
  for (const RefusedRequest& request : facts.first_refusals) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", request.number,
                        human_size(request.size));
  }
  if (text.empty()) {
    return facts.requests == 0 ? ""
                               : fmt::format("No request was refused: the program made {}.",
                                             human_count(facts.requests));
  }
  const bool all = facts.refusals == facts.first_refusals.size();
  return fmt::format(
      "Refused on request: {} {}{}.", facts.refusals == 1 ? "request" : "requests", text,
      all ? "" : fmt::format(" and {} more", facts.refusals - facts.first_refusals.size()));
}

// "run.mrt: 3,128 allocations and 3,100 frees of make (process 4711); peak requested 12 MiB, 28
// blocks (3 MiB) live at the end."
std::string calls_sentence(const CallRecording& calls) {
  const capture::SpoolSummary& summary = calls.summary;
  const std::string command = calls.command.empty() ? "?" : calls.command.front();
  std::string text = fmt::format(
      "{}: {} and {} of {} ({}, process {}); peak requested {}, {} ({}) live at the end.",
      calls.path, counted(summary.allocations, "allocation"), counted(summary.frees, "free"),
      command, calls.recorder, calls.pid, human_size(summary.peak_bytes),
      counted(summary.live_blocks, "block"), human_size(summary.live_bytes));
  const auto add = [&](std::uint64_t count, const char* what, const char* one, const char* many) {
    if (count != 0) text += fmt::format(" {} {}.", counted(count, what), count == 1 ? one : many);
  };
  add(summary.refused, "request", "failed", "failed");
  add(summary.inherited, "block", "was there before the fork", "were there before the fork");
  add(summary.unknown_frees, "free", "is of a block from before the recording",
      "are of blocks from before the recording");
  add(summary.missing, "call", "was under way when it was killed",
      "were under way when it was killed");
  if (summary.stopped_by != 0) {
    text += fmt::format(" The recording ends early: {}. Requests after that are missing.",
                        std::strerror(summary.stopped_by));
  }
  if (summary.is_running) {
    text += " The recording ends early: its process still runs. Requests after this are missing.";
  }
  add(summary.unrecorded_forks, "fork", "of it could not be recorded",
      "of it could not be recorded");
  return text;
}

// "run-processes: 12 further processes, with 2,345 allocations."
std::string others_sentence(const std::vector<CallRecording>& all) {
  std::uint64_t processes = 0;
  std::uint64_t allocations = 0;
  std::string folder;
  for (const CallRecording& calls : all) {
    if (calls.is_largest) continue;
    ++processes;
    allocations += calls.summary.allocations;
    folder = std::filesystem::path(calls.path).parent_path().string();
  }
  if (processes == 0) return "";
  return fmt::format("{}: further recordings of {}, with {} allocations.", folder,
                     processes == 1 ? "1 process" : fmt::format("{} processes", processes),
                     human_count(allocations));
}

// "2 processes still run: ./server (process 4711), ./server (process 4712)."
std::string running_sentence(const std::vector<capture::RunningProcess>& running) {
  constexpr std::size_t kMost = 5;
  if (running.empty()) return "";
  std::string names;
  for (const capture::RunningProcess& one :
       std::span(running).first(std::min(kMost, running.size()))) {
    names += fmt::format("{}{} (process {})", names.empty() ? "" : ", ",
                         one.command.empty() ? "?" : one.command, one.process);
  }
  if (running.size() > kMost) names += fmt::format(" and {} more", running.size() - kMost);
  return fmt::format(
      "{} still {}: {}.",
      running.size() == 1 ? "1 process" : fmt::format("{} processes", running.size()),
      running.size() == 1 ? "runs" : "run", names);
}

// ", and more once the program uses kernels (92 MiB), cuBLAS (66 MiB), …"
std::string libraries_phrase() {
  std::vector<std::string> names;
  for (const LibraryUse& use : kLibraryUses) {
    names.push_back(fmt::format("{} ({})", use.name, human_size(use.usual)));
  }
  return fmt::format(", and more at the first use of {}", fmt::join(names, ", "));
}

std::string card_sentence(const VirtualCard& card) {
  std::string text = fmt::format("Simulated GPU: {}, {}", card.card.name, human_size(card.total));
  text += card.context == 0
              ? " (all of it for the program; context=SIZE sets some aside for the CUDA context)"
              : fmt::format(" ({} of it for the CUDA context{})", human_size(card.context),
                            card.libraries ? libraries_phrase() : "");
  return text + ". The allocator is the program's own; nothing was computed.";
}

}  // namespace

std::string to_text(const RecordAnswer& answer, const TextStyle& style) {
  Sheet out(style);
  const auto add = [&](const std::string& text) { append_paragraph(out, text); };
  add(end_sentence(answer.end));
  const auto is_recorded = [](const RecordedProcess& one) { return !one.path.empty(); };
  const bool any = !answer.calls.empty() || std::ranges::any_of(answer.processes, is_recorded);
  if (any) add(unrecorded_sentence(answer.processes));
  for (const CallRecording& calls : answer.calls) {
    if (calls.is_largest) add(calls_sentence(calls));
  }
  add(others_sentence(answer.calls));
  for (const RecordedProcess& process : answer.processes) {
    if (!is_recorded(process)) continue;
    add(recording_sentence(answer, process));
    if (const TraceRuns* const runs = answer.runs_of(process)) add(model_sentence(*runs));
    add(switches_sentence(process));
  }
  if (!any && answer.failed.empty()) {
    add(answer.running.empty() ? nothing_sentence(answer) : "Nothing was recorded yet.");
  }
  add(running_sentence(answer.running));
  if (answer.card && any) add(card_sentence(*answer.card));
  for (const RecordedProcess& process : answer.processes) {
    if (!process.virtual_gpu) continue;
    add(code_sentence(*process.virtual_gpu));
    add(refusals_sentence(*process.virtual_gpu));
    add(reads_sentence(*process.virtual_gpu, answer.fill));
    add(cudnn_sentence(process.virtual_gpu->cudnn, answer.card && answer.card->least_engine));
    add(workspaces_sentence(*process.virtual_gpu));
  }
  return out.text();
}

const TraceRuns* RecordAnswer::runs_of(const RecordedProcess& process) const {
  const auto found = std::ranges::find_if(replays.traces, [&](const TraceRuns& runs) {
    return !process.path.empty() && runs.trace.path == process.path;
  });
  return found == replays.traces.end() || found->runs.empty() ? nullptr : &*found;
}

Table to_table(const RecordAnswer& answer) {
  Table table{{left("recording"), "rank", "events", "peak requested", "peak allocated",
               "peak reserved", "OOM"}};
  for (const RecordedProcess& process : answer.processes) {
    const TraceRuns* const runs = answer.runs_of(process);
    if (!runs) continue;
    const RunMetrics& metrics = runs->runs.front().metrics;
    table.add(process.path, process.rank ? cell_of(*process.rank) : "-", runs->trace.events,
              exact_size(metrics.peak_requested), exact_size(metrics.peak_allocated),
              exact_size(metrics.peak_reserved), process.ooms);
  }
  return table;
}

}  // namespace memreplay
