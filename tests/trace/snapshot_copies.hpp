#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "trace/json/json_writer.hpp"
#include "trace/pickle/pickle_writer.hpp"
#include "trace/reader.hpp"
#include "trace/torch/torch_writer.hpp"

namespace memreplay {

/// Bytes of a snapshot in a file of the test's own, gone with this.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& bytes, const std::string& ending) {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("memreplay-" + std::to_string(::getpid()) + "-" + std::to_string(count++) + ending);
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

template <typename Writer>
std::string copy_of(const std::string& path) {
  std::ostringstream out;
  Writer writer(out);
  copy_recording(path, {}, writer);
  return out.str();
}

/// Equal but for where it was read from.
inline Recording recording_of(const std::string& path) {
  Recording recording = read_recording(path);
  recording.path.clear();
  recording.detail.clear();
  recording.format = "torch";
  return recording;
}

/// What is read from a snapshot that this recording was written to.
template <typename Writer>
Recording written_and_read(const Recording& recording) {
  std::ostringstream out;
  Writer writer(out);
  write_torch_snapshot(recording, writer);
  return recording_of(TemporaryFile(out.str(), ".snapshot").path());
}

inline std::vector<std::filesystem::path> bundled_snapshots() {
  std::vector<std::filesystem::path> paths;
  for (const auto& file :
       std::filesystem::directory_iterator(std::filesystem::path(MEMREPLAY_TRACES) / "torch")) {
    if (file.path().extension() == ".pickle") paths.push_back(file.path());
  }
  return paths;
}

}  // namespace memreplay
