#include <fmt/format.h>

#include "record/answer.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {

void fields(JsonFields& f, const ReadPlace& place) {
  f("file", unless_empty(place.file), "of the program; null: none of its Python was on the stack");
  f("line", place.line, "in it");
  f("function", unless_empty(place.function), "that looked");
  f("times", place.times, "how often");
}

void fields(JsonFields& f, const ModelledWorkspace& workspace) {
  f("function", workspace.function, "of the library");
  f("times", workspace.times, "how often it was called");
  f("largest_bytes", workspace.largest, "the largest");
}

void fields(JsonFields& f, const AskedCudnn& cudnn) {
  f("version", unless_empty(cudnn.version), "9.19.0; null: it answered nothing");
  f("graphs", cudnn.graphs, "different graphs that it answered about");
  f("unanswered", cudnn.unanswered, "different graphs that were left to the model");
  f("why", unless_empty(cudnn.why), "of the last of these");
  f("timed", cudnn.timed, "graphs whose engines the program timed (cudnn.benchmark)");
  f("least_bytes", cudnn.least, "their largest workspace where each keeps its smallest");
  f("most_bytes", cudnn.most, "likewise, its largest");
}

void fields(JsonFields& f, const RefusedRequest& request) {
  f("request", request.number, "which one, from 1");
  f("bytes", request.size, "its size");
}

void fields(JsonFields& f, const VirtualFacts& facts) {
  const std::uint64_t code = facts.oldest_code;
  f("reads", facts.reads, "reads of values that were never computed");
  f("read_at", facts.read_at, "the call sites with most of them");
  f("workspaces", facts.workspaces, "of the stand-ins for NVIDIA's libraries");
  f("cudnn", facts.cudnn, "the real cuDNN, asked without a device");
  f("requests", facts.requests, "counted where some are to be refused");
  f("refusals", facts.refusals, "requests refused");
  f("first_refusals", facts.first_refusals, "the first of them");
  f("neutral_calls", facts.neutral_calls, "calls of functions that do nothing, by name");
  f("oldest_code_architecture", only_if(code != 0, fmt::format("{}.{}", code / 10, code % 10)),
    "of kernels that no real card of this kind runs; null: all that were launched run there");
}

void fields(JsonFields& f, const RecordedProcess& process) {
  f("path", unless_empty(process.path), "its recording; null: there is none");
  f("pid", process.pid, "process id");
  f("rank", process.rank, "given by a launcher");
  f("torch", unless_empty(process.torch), "its version");
  f("torch_error", unless_empty(process.torch_error), "why torch did not load; null: it did");
  f("used_cuda", process.used_cuda, "it used a GPU, or a virtual one");
  f("ooms", process.ooms, "requests that were refused");
  f("pinned_events", process.pinned, "of pinned host memory in its recording");
  f("own_switches", process.own_switches, "the program's own switches of the history, ignored");
  f("virtual_gpu", process.virtual_gpu, "what the virtual GPU saw; null: a real device");
}

void fields(JsonFields& f, const CallRecording& calls) {
  const capture::SpoolSummary& summary = calls.summary;
  f("path", calls.path, "the recording");
  f("recorder", calls.recorder, "malloc or cuda");
  f("pid", calls.pid, "process id");
  f("command", calls.command, "its words");
  f("allocations", summary.allocations, "requests that were served");
  f("frees", summary.frees, "blocks freed");
  f("refused", summary.refused, "requests that failed");
  f("unknown_frees", summary.unknown_frees, "frees of blocks from before the recording");
  f("inherited_blocks", summary.inherited, "blocks from before the fork");
  f("live_blocks", summary.live_blocks, "at the end");
  f("live_bytes", summary.live_bytes, "requested by these blocks");
  f("peak_requested_bytes", summary.peak_bytes, "most live at once, as requested");
  f("missing", summary.missing, "calls under way when the process was killed");
  f("unrecorded_forks", summary.unrecorded_forks, "processes forked from it, without a recording");
  f("complete", summary.is_complete(), "no calls are missing");
  f("running", summary.is_running, "its process may ask for more");
}

void fields(JsonFields& f, const capture::RunningProcess& running) {
  f("pid", running.process, "process id");
  f("command", running.command, "its first word");
}

void fields(JsonFields& f, const VirtualCard& card) {
  f("name", card.card.name, "a name of `list cards`");
  f("total_bytes", card.total, "as its driver reports it");
  f("context_bytes", card.context, "taken from it by each process that uses it");
  ByName<Bytes> libraries;
  for (const LibraryUse& use : kLibraryUses) {
    if (card.libraries) libraries.pairs.emplace_back(use.name, use.usual);
  }
  f("libraries", libraries, "bytes taken too by each process at their first use");
  f("compute_capability", card.card.compute / 10.0, "9.0 or another");
  f("multiprocessors", card.card.multiprocessors, "how many");
  f("benchmark", card.least_engine ? "least" : "first",
    "which engine cudnn.benchmark keeps: the first by cuDNN's heuristics, or that of least "
    "workspace");
}

void fields(JsonFields& f, const RecordAnswer& answer) {
  head_fields(f, "record");
  f("program", answer.program, "its words");
  f("exit_status", answer.end.status, "of the program; 128 and more: a signal, as in shells");
  f("virtual_gpu", answer.card, "the simulated card; null: a real device");
  f("processes", answer.processes, "those that asked for torch, by rank");
  f("calls", answer.calls, "recordings of calls of malloc or CUDA");
  f("failed", answer.failed, "why recordings could not be written");
  f("left_in", unless_empty(answer.left),
    "the folder where they are, and what still runs writes; null: neither");
  f("running", answer.running, "processes that outlived the program that was started");
  const auto replayed = [](JsonFields& result, const TraceRuns& runs) {
    result("trace", runs.trace, "the recording");
    result("runs", runs.runs, "its replays");
    result("verify", runs.model_check, "how much of the recording the model reproduces");
  };
  f("results", each(answer.replays.traces, replayed), "the peaks of the recordings");
}

std::string to_json(const RecordAnswer& answer) { return dump(JsonFields::of(answer)); }

}  // namespace memreplay
