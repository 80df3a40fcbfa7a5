#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

namespace memreplay {

/// A copy of bytes that ends where a page does; the next page cannot be read, so that a test that
/// reads past the end is ended by a signal.
class GuardedBytes {
 public:
  explicit GuardedBytes(std::string_view bytes) {
    constexpr std::size_t kPage = 4096;
    const std::size_t room = (bytes.size() + kPage - 1) / kPage * kPage;
    mapped_ = room + kPage;
    void* mapping =
        ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) throw std::system_error(errno, std::generic_category());
    mapping_ = static_cast<char*>(mapping);
    ::mprotect(mapping_ + room, kPage, PROT_NONE);
    char* const begin = mapping_ + room - bytes.size();
    if (!bytes.empty()) std::memcpy(begin, bytes.data(), bytes.size());
    bytes_ = {begin, bytes.size()};
  }
  ~GuardedBytes() { ::munmap(mapping_, mapped_); }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  std::string_view bytes() const { return bytes_; }

 private:
  char* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  std::string_view bytes_;
};

}  // namespace memreplay
