#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/program.hpp"
#include "record/recording_folder.hpp"
#include "record/virtual_card.hpp"
#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"
#include "run/answer.hpp"
#include "spool/recording.hpp"

namespace memreplay {

class Cache;
class JsonFields;

/// Which calls of any program are recorded.
struct RecordedCalls {
  bool malloc = false;
  bool cuda = false;

  bool any() const { return malloc || cuda; }
};

/// What one process asked of malloc or of CUDA.
struct CallRecording {
  std::string path;
  std::string recorder;  ///< "malloc", "cuda"
  std::uint64_t pid = 0;
  std::vector<std::string> command;
  capture::SpoolSummary summary;
  bool is_largest = false;  ///< its recorder's largest: it has the name that was asked for
};

/// What the processes of a program asked for, as far as it could be written.
struct CallRecordings {
  std::vector<CallRecording> all;
  /// Why a process has no recording, for each such process. Its spool stays.
  std::vector<std::string> failed;
  std::vector<capture::RunningProcess> running;  ///< may ask for more, and write it to the spools
};

/// Throws UsageError where calls cannot be written to a file of this name.
void expect_calls_in(const std::string& target);

/// What a program is started with, so that its calls are left in `folder`.
std::map<std::string, std::string> environment_for(RecordedCalls calls, const Cache& cache,
                                                   const std::filesystem::path& folder);

/// Writes a recording of each process whose spool is in `spools`: the first one has the name
/// `target`, further ones their process before its ending. They are made in `folder`. One that
/// fails does not hide the others.
CallRecordings call_recordings(const std::filesystem::path& spools, const RecordingFolder& folder,
                               const std::string& target);

/// A place of the program that looked at a value which was never computed.
struct ReadPlace {
  std::string file;  ///< empty: no Python of the program's own was on the stack
  std::uint64_t line = 0;
  std::string function;
  std::uint64_t times = 0;
};

/// Workspaces of a library that stood in for NVIDIA's.
struct ModelledWorkspace {
  std::string function;
  std::uint64_t times = 0;
  Bytes largest = 0;
};

struct RefusedRequest {
  std::uint64_t number = 0;  ///< from 1
  Bytes size = 0;
};

/// How far the real cuDNN was asked for what its graphs want.
struct AskedCudnn {
  std::string version;           ///< empty: it answered nothing
  std::uint64_t graphs = 0;      ///< different ones that it answered about
  std::uint64_t unanswered = 0;  ///< likewise, left to the model
  std::string why;               ///< the last of these; empty: all were answered
  std::uint64_t timed = 0;       ///< graphs whose engines the program timed (cudnn.benchmark)
  Bytes least = 0;               ///< their largest workspace where each keeps its smallest
  Bytes most = 0;                ///< likewise, its largest
};

/// What a virtual GPU has to tell.
struct VirtualFacts {
  std::uint64_t reads = 0;
  std::vector<ReadPlace> read_at;  ///< the most frequent ones
  std::vector<ModelledWorkspace> workspaces;
  AskedCudnn cudnn;
  /// Architecture of the oldest code (75: 7.5) of kernels that no real card of this kind runs; 0:
  /// all kernels that were launched run there.
  std::uint64_t oldest_code = 0;
  std::uint64_t requests = 0;  ///< counted where some are to be refused
  std::uint64_t refusals = 0;
  std::vector<RefusedRequest> first_refusals;
  std::map<std::string, std::uint64_t> neutral_calls;  ///< calls of functions that do nothing
};

/// A process of the program that asked for torch.
struct RecordedProcess {
  std::string path;  ///< where its recording is; empty: there is none
  std::uint64_t pid = 0;
  std::optional<std::uint64_t> rank;  ///< given by a launcher
  std::string torch;                  ///< its version; empty: unknown, or it did not load
  std::string torch_error;            ///< why it did not load; empty: it did
  std::string write_error;            ///< why it has none, or an old one
  bool used_cuda = false;
  std::uint64_t ooms = 0;
  std::uint64_t steps = 0;         ///< steps of optimisers, where they were counted
  std::uint64_t pinned = 0;        ///< events of pinned host memory in its recording
  std::uint64_t own_switches = 0;  ///< the program's own switches of the history, ignored
  std::optional<VirtualFacts> virtual_gpu;
};

/// What came of recording a program.
struct RecordAnswer {
  std::vector<std::string> program;
  ProgramEnd end;
  std::optional<VirtualCard> card;         ///< unset: a real device
  std::string fill;                        ///< what the virtual one gave for values
  std::vector<RecordedProcess> processes;  ///< by rank
  bool only_calls = false;                 ///< only calls of malloc or CUDA were recorded
  std::vector<CallRecording> calls;
  std::vector<std::string> failed;  ///< why recordings could not be written, "FILE: why"
  std::vector<capture::RunningProcess> running;  ///< outlived the program that was started
  std::string left;      ///< the folder where they write, or what failed is; empty: neither
  ReplayAnswer replays;  ///< the recordings' replays, with what they came to

  /// What the recording of a process came to; null: it has none, or nothing in it.
  const TraceRuns* runs_of(const RecordedProcess& process) const;
};

/// Shown by the printer, as every answer is.
std::string to_text(const RecordAnswer& answer, const TextStyle& style);
std::string to_json(const RecordAnswer& answer);
/// A row for each recording.
Table to_table(const RecordAnswer& answer);
/// The keys of its JSON.
void fields(JsonFields& f, const RecordAnswer& answer);

}  // namespace memreplay
