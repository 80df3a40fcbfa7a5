#include "record/call_recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>

#include "core/error.hpp"
#include "files/files.hpp"
#include "trace/writer.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

capture::SpoolSummary write(const capture::SpooledProcess& process, const fs::path& file) {
  const WriterInfo& writer = writer_for(file.string());
  std::ofstream stream(file, std::ios::binary);
  capture::SpoolSummary summary;
  if (writer.open) {
    summary = stream_recording(process, *writer.open(stream));
  } else {
    writer.write(read_recording(process, summary), stream);
  }
  stream.close();
  if (!stream) throw InputError(file.string(), "", "cannot be written: the disk is full");
  return summary;
}

/// "run.mrt"; of the second recorder "run-cuda.mrt".
std::string name_of(const CallRecording& recording, const std::string& target, bool first) {
  return first ? target : with_mark(target, recording.recorder);
}

void move(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (to.has_parent_path()) fs::create_directories(to.parent_path(), error);
  fs::rename(from, to, error);
  if (error) throw InputError(to.string(), "", "cannot be written: " + error.message());
}

}  // namespace

fs::path others_of(const std::string& target) {
  fs::path folder = target;
  folder.replace_filename(folder.stem().string() + "-processes");
  return folder;
}

void expect_calls_in(const std::string& target) {
  if (writer_for(target).needs_addresses) {
    throw UsageError(
        fmt::format("{}: calls are written to NAME.mrt or NAME.csv; expected such a name", target));
  }
}

std::map<std::string, std::string> environment_for(RecordedCalls calls, const Cache& cache,
                                                   const fs::path& folder) {
  std::string preloaded;
  const auto add = [&](const std::string& object) {
    if (!object.empty()) preloaded += (preloaded.empty() ? "" : ":") + object;
  };
  const fs::path objects = embedded_folder(cache);
  if (calls.malloc) add((objects / "memreplay_malloc.so").string());
  if (calls.cuda) add((objects / "memreplay_cuda.so").string());
  const char* const others = std::getenv("LD_PRELOAD");
  add(others ? others : "");
  return {{"LD_PRELOAD", preloaded}, {"MEMREPLAY_SPOOL", folder.string()}};
}

std::vector<CallRecording> call_recordings(const RecordingFolder& folder,
                                           const std::string& target) {
  const std::string ending = fs::path(target).extension().string();
  std::vector<CallRecording> recordings;
  for (const capture::SpooledProcess& process : capture::processes_in(folder.path())) {
    const fs::path file = fs::path(process.spool).replace_extension(ending);
    recordings.push_back({.path = file.string(),
                          .recorder = process.recorder,
                          .pid = process.process,
                          .command = process.command,
                          .summary = write(process, file)});
  }
  std::ranges::stable_sort(recordings, std::greater(), [](const CallRecording& recording) {
    return recording.summary.peak_bytes;
  });
  std::set<std::string> named;
  for (CallRecording& recording : recordings) {
    const fs::path written = recording.path;
    recording.path = name_of(recording, target, named.empty());
    recording.is_largest = named.insert(recording.recorder).second;
    if (!recording.is_largest) recording.path = others_of(target) / written.filename();
    move(written, recording.path);
  }
  return recordings;
}

}  // namespace memreplay
