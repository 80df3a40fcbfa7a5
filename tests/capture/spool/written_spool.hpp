#pragma once

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "spool/page_writer.hpp"
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

/// Writes a spool with the time of each call before it.
template <typename R>
std::string write_spool(const std::filesystem::path& file, const SpoolHead& head,
                        const std::vector<DrawnPage<R>>& pages) {
  std::string bytes((1 + pages.size()) * kSpoolPageBytes, '\0');
  std::memcpy(bytes.data(), &head, sizeof head);
  auto* at = reinterpret_cast<std::byte*>(bytes.data());
  for (const DrawnPage<R>& page : pages) {
    at += kSpoolPageBytes;
    auto& page_head = *reinterpret_cast<SpoolPageHead*>(at);
    page_head.thread = page.thread;
    page_head.order = page.records.empty() ? 0 : page.records.front().order;
    PageEnd end = end_of_new_page(at, sizeof(R));
    for (const R& record : page.records) {
      if (end.next >= end.full) throw std::logic_error("more calls than a page holds");
      write_time(end, record.order, record.time_ns);
      write_entry(end, record);
    }
  }
  std::ofstream(file, std::ios::binary) << bytes;
  return file.string();
}

inline Record record(std::uint64_t order, Call call, std::uint64_t address,
                     std::uint64_t size = 0) {
  return {order, address, static_cast<std::int64_t>(order) * 1000, described(call, size)};
}

}  // namespace memreplay::capture
