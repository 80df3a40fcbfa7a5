#include "record/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "files/files.hpp"
#include "trace/writer.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, const std::string& why) {
  throw InputError(file.string(), "", "cannot be written: " + why);
}

/// Makes the whole recording or nothing.
capture::SpoolSummary write(const capture::SpooledProcess& process, const fs::path& file) {
  const WriterInfo& writer = writer_for(file.string());
  capture::SpoolSummary summary;
  std::error_code ignored;
  try {
    std::ofstream stream(file, std::ios::binary);
    if (writer.open) {
      summary = stream_recording(process, *writer.open(stream));
    } else {
      writer.write(read_recording(process, summary), stream);
    }
    errno = 0;
    stream.close();
    if (!stream) fail(file, errno == 0 ? "the disk is full" : std::strerror(errno));
  } catch (...) {
    fs::remove(file, ignored);
    throw;
  }
  return summary;
}

/// "run.mrt"; of the second recorder "run-cuda.mrt".
std::string name_of(const CallRecording& recording, const std::string& target, bool first) {
  return first ? target : with_mark(target, recording.recorder);
}

void move(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (to.has_parent_path()) fs::create_directories(to.parent_path(), error);
  error = move_recording(from, to);
  if (error) fail(to, error.message());
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

CallRecordings call_recordings(const fs::path& spools, const RecordingFolder& folder,
                               const std::string& target) {
  const std::string ending = fs::path(target).extension().string();
  capture::SpooledProcesses found = capture::processes_in(spools);
  CallRecordings out{
      .all = {}, .failed = std::move(found.unreadable), .running = std::move(found.running)};
  const auto unless_it_fails = [&](const auto& make) {
    try {
      make();
    } catch (const InputError& error) {
      out.failed.emplace_back(error.what());
    }
  };
  for (const capture::SpooledProcess& process : found.processes) {
    const fs::path file =
        folder.path() / fs::path(process.spool).filename().replace_extension(ending);
    unless_it_fails([&] {
      out.all.push_back({.path = file.string(),
                         .recorder = process.recorder,
                         .pid = process.process,
                         .command = process.command,
                         .summary = write(process, file)});
    });
  }
  std::ranges::stable_sort(out.all, std::greater(), [](const CallRecording& recording) {
    return recording.summary.peak_bytes;
  });
  std::set<std::string> named;
  for (CallRecording& recording : out.all) {
    const fs::path written = recording.path;
    std::string path = name_of(recording, target, named.empty());
    recording.is_largest = named.insert(recording.recorder).second;
    if (!recording.is_largest) path = others_of(target) / written.filename();
    unless_it_fails([&] {
      move(written, path);
      recording.path = path;
    });
  }
  return out;
}

}  // namespace memreplay
