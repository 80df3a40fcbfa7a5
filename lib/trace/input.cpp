#include "trace/input.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/system_calls.hpp"
#include "core/units.hpp"
#include "trace/decompress.hpp"
#include "trace/named_content.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kBeginning = 64 * kKiB;
/// Looked at before a compressed file is unpacked: most formats show at once, a message in a log
/// may come late.
constexpr std::size_t kLooks[] = {kBeginning, 64 * kMiB};

[[noreturn]] void fail(const std::string& path, std::string_view what) {
  throw InputError(path, "", std::string(what) + ": " + std::generic_category().message(errno));
}

/// Closes what it opened; standard input stays open.
class File {
 public:
  explicit File(const std::string& path)
      : number_(path == "-" ? STDIN_FILENO : uninterrupted([&] {
          return ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        })) {
    if (number_ >= 0) return;
    if (const std::string what = named_path(path); !what.empty()) throw InputError(path, "", what);
    fail(path, "cannot be opened");
  }
  ~File() {
    if (number_ != STDIN_FILENO) ::close(number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

/// What may never end, /dev/zero say.
bool is_device(int file) {
  struct stat status {};
  return ::fstat(file, &status) == 0 && (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) &&
         ::isatty(file) == 0;
}

std::string read_all(int file, const std::string& path) {
  std::string content;
  for (std::size_t used = 0;;) {
    if (content.size() - used < kMiB) content.resize(used + std::max<std::size_t>(kMiB, used / 2));
    const ssize_t count =
        uninterrupted([&] { return ::read(file, content.data() + used, content.size() - used); });
    if (count < 0) fail(path, "cannot be read");
    if (count > 0 && used == 0 && is_device(file)) {
      throw InputError(path, "", "is a device: expected a file");
    }
    used += static_cast<std::size_t>(count);
    if (count == 0) {
      content.resize(used);
      return content;
    }
  }
}

}  // namespace

std::string read_file(const std::string& path) { return read_all(File(path).number(), path); }

OpenedInput::OpenedInput(const std::string& path, Unpack unpack, const Wanted& wanted) {
  input_.name = path;
  guarded([&] {
    map_or_read(File(path).number());
    this->unpack(unpack, wanted);
  });
}

OpenedInput::OpenedInput(const std::string& name, std::string_view bytes, Unpack unpack,
                         const Wanted& wanted) {
  input_.name = name;
  guarded([&] {
    input_.bytes = bytes;
    this->unpack(unpack, wanted);
  });
}

template <typename Fill>
void OpenedInput::guarded(Fill fill) {
  try {
    fill();
  } catch (const std::bad_alloc&) {
    let_go();
    throw InputError(input_.name, "", "is too large for the memory that there is");
  } catch (...) {
    let_go();
    throw;
  }
}

OpenedInput::~OpenedInput() { let_go(); }

bool OpenedInput::await_all() {
  bool is_as_stated = true;
  guarded([&] { is_as_stated = input_.arrival == nullptr || await(input_.bytes.size()); });
  input_.arrival = nullptr;
  return is_as_stated;
}

bool OpenedInput::await(std::size_t count) {
  try {
    unpacking_->wait_beyond(count);
    return true;
  } catch (const Misstated&) {
    input_.bytes = packed_;
    unpack_at_once();
    return false;
  }
}

void OpenedInput::unpack(Unpack when, const Wanted& wanted) {
  if (input_.bytes.empty()) throw InputError(input_.name, "", "is empty: expected a recording");
  if (!is_compressed(input_.bytes)) return;
  if (wanted && !looks_wanted(wanted)) return;
  if (when == Unpack::beside) unpacking_ = Unpacking::begin(input_);
  if (unpacking_ == nullptr) return unpack_at_once();
  packed_ = input_.bytes;
  input_.bytes = unpacking_->bytes();
  input_.mapped = false;
  input_.arrival = unpacking_.get();
  await(kBeginning);
}

bool OpenedInput::looks_wanted(const Wanted& wanted) {
  Input beginning;
  beginning.name = input_.name;
  std::string content;
  for (const std::size_t bytes : kLooks) {
    content = decompressed_beginning(input_, bytes);
    beginning.bytes = content;
    if (wanted(beginning)) return true;
    if (content.size() < bytes) break;
  }
  hold(std::move(content));
  return false;
}

void OpenedInput::unpack_at_once() { hold(decompress(input_)); }

void OpenedInput::hold(std::string content) {
  held_ = std::move(content);
  let_go();
  input_.bytes = held_;
  if (held_.empty()) {
    throw InputError(input_.name, "", "is empty after decompression: expected a recording");
  }
}

void OpenedInput::map_or_read(int file) {
  struct stat status {};
  if (::fstat(file, &status) != 0) fail(input_.name, "cannot be read");
  if (S_ISDIR(status.st_mode)) {
    throw InputError(input_.name, "", "is a directory: expected a recording");
  }
  // Standard input may stand in the middle of a file: then it is read from there.
  if (S_ISREG(status.st_mode) && status.st_size > 0 && file != STDIN_FILENO) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapping != MAP_FAILED) {
      mapping_ = mapping;
      mapped_bytes_ = size;
      input_.bytes = {static_cast<const char*>(mapping), size};
      input_.mapped = true;
      return;
    }
  }
  held_ = read_all(file, input_.name);
  input_.bytes = held_;
}

void OpenedInput::let_go() {
  unpacking_.reset();
  input_.arrival = nullptr;
  if (mapping_ != nullptr) ::munmap(std::exchange(mapping_, nullptr), mapped_bytes_);
  input_.mapped = false;
}

}  // namespace memreplay
