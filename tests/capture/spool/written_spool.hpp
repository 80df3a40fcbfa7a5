#pragma once

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "spool/recording.hpp"
#include "spool/spool_format.hpp"

namespace memreplay::capture {

/// A folder of spools as a test draws them, gone at its end.
class SpoolFolder {
 public:
  SpoolFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "spools-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~SpoolFolder() { std::filesystem::remove_all(path_); }
  SpoolFolder(const SpoolFolder&) = delete;
  SpoolFolder& operator=(const SpoolFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline SpoolHead head_of(std::uint32_t process, const char* recorder = "malloc",
                         std::uint32_t record_bytes = sizeof(Record)) {
  SpoolHead head;
  std::memcpy(head.magic, kSpoolMagic, sizeof head.magic);
  head.version = kSpoolVersion;
  head.record_bytes = record_bytes;
  std::strcpy(head.recorder, recorder);
  head.process = process;
  std::memcpy(head.command, "program\0argument", sizeof "program\0argument");
  return head;
}

/// A page of one thread.
template <typename R>
struct DrawnPage {
  std::uint32_t thread = 0;
  std::vector<R> records;
};

template <typename R>
std::string write_spool(const std::filesystem::path& file, const SpoolHead& head,
                        const std::vector<DrawnPage<R>>& pages) {
  std::string bytes((1 + pages.size()) * kSpoolPageBytes, '\0');
  std::memcpy(bytes.data(), &head, sizeof head);
  char* at = bytes.data() + kSpoolPageBytes;
  for (const DrawnPage<R>& page : pages) {
    std::memcpy(at, &page.thread, sizeof page.thread);
    std::memcpy(at + sizeof(SpoolPageHead), page.records.data(), page.records.size() * sizeof(R));
    at += kSpoolPageBytes;
  }
  std::ofstream(file, std::ios::binary) << bytes;
  return file.string();
}

inline Record record(std::uint64_t order, Call call, std::uint64_t address,
                     std::uint64_t size = 0) {
  return {order, address, static_cast<std::int64_t>(order) * 1000, described(call, size)};
}

}  // namespace memreplay::capture
