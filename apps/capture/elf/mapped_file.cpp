#include "elf/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "core/error.hpp"

namespace memreplay {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw InputError(
      path.string(), "",
      std::string("cannot be read: ") + std::strerror(error) + "; expected a shared object");
}

std::string_view map(int file, const std::filesystem::path& path) {
  struct stat status {};
  if (::fstat(file, &status) != 0) fail(path, errno);
  if (S_ISDIR(status.st_mode)) fail(path, EISDIR);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return {};
  void* const mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (mapping == MAP_FAILED) fail(path, errno);
  return {static_cast<const char*>(mapping), size};
}

/// Closes what open() gave, also when an error is thrown.
struct Descriptor {
  int number;
  ~Descriptor() { ::close(number); }
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (number < 0) fail(path, errno);
  const Descriptor file{number};
  bytes_ = map(file.number, path);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

}  // namespace memreplay
