#include "trace/input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/system_calls.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "trace/decompress.hpp"

namespace memreplay {
namespace {

/// Contents that begin with certain bytes.
struct Signature {
  std::size_t at;
  std::string_view bytes;
  std::string_view says;
};

using namespace std::string_view_literals;

constexpr Signature kSignatures[] = {
    {0, "\xFD\x37zXZ\0"sv, "is compressed by xz: unpack it first (xz -d FILE)"},
    {0, "BZh"sv, "is compressed by bzip2: unpack it first (bunzip2 FILE)"},
    {0, "7z\xBC\xAF\x27\x1C"sv, "is a 7z archive: unpack it first (7z x FILE)"},
    {0, "Rar!\x1A\x07"sv, "is a rar archive: unpack it first (unrar x FILE)"},
    {0, "\x04\x22\x4D\x18"sv, "is compressed by lz4: unpack it first (lz4 -d FILE)"},
    {0, "\x5D\0\0\x80\0\xFF\xFF\xFF\xFF"sv, "is compressed by lzma: unpack it first (unlzma FILE)"},
    {0, "LZIP"sv, "is compressed by lzip: unpack it first (lzip -d FILE)"},
    {0, "\xFF\x06\0\0sNaPpY"sv, "is compressed by snappy: unpack it first"},
    {0, "\x1F\x9D"sv, "is compressed by compress (.Z): unpack it first (uncompress FILE)"},
    {257, "ustar"sv, "is a tar archive: unpack it and name a file in it (tar -xf FILE)"},
    {0, "\x80\x02\x8A\nl\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19\x2E"sv,
     "is a file of torch.save (a .pt of a release before 1.6: tensors or a model), not a snapshot; "
     "torch.cuda.memory._dump_snapshot writes one"},
    {0, "\x93NUMPY"sv, "is a NumPy array (.npy), not a recording"},
    {0, "\x89HDF\r\n"sv, "is an HDF5 file (a model or data), not a recording"},
    {0,
     "--------------------------------------------------------------------------------\nCommand:"sv,
     "is what ms_print made of massif's output: name the massif.out file itself"},
    {0, "\0\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0"sv,
     "is a profile of a CPU's time (gperftools), which has no allocations"},
    {0, "GGUF"sv, "is a model (GGUF), not a recording"},
    {0, "PAR1"sv, "is a Parquet table: convert it to CSV first"},
    {0, "ARROW1"sv, "is an Arrow table: convert it to CSV first"},
    {0, "\x89PNG\r\n"sv, "is a picture (PNG): save the text or the recording itself"},
    {0, "\xFF\xD8\xFF"sv, "is a picture (JPEG): save the text or the recording itself"},
    {0, "GIF8"sv, "is a picture (GIF): save the text or the recording itself"},
    {0, "RIFF"sv, "is a picture or a sound (RIFF): save the text or the recording itself"},
    {0, "%PDF-"sv, "is a PDF document: save the text or the recording itself"},
    {0, "\x7F\x45LF"sv, "is a program, a library or a core dump (ELF), not a recording"},
};

std::string lower_case_beginning(std::string_view bytes) {
  constexpr std::size_t kNear = 1 << 10;
  const std::size_t first = bytes.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  return lower_case(std::string(bytes.substr(std::min(first, bytes.size()), kNear)));
}

/// A format that changes by version; packed by LZ4, as memray writes it, it still begins with that.
std::string named_capture(std::string_view bytes) {
  constexpr std::string_view kMagic = "memray\0"sv, kLz4 = "\x04\x22\x4D\x18"sv;
  constexpr std::size_t kNear = 40;
  const bool packed = bytes.starts_with(kLz4) && bytes.substr(0, kNear).find(kMagic) != bytes.npos;
  if (!packed && !bytes.starts_with(kMagic)) return {};
  return "is a capture of memray, which memray alone reads: python -m memreplay convert-memray "
         "FILE OUT.csv makes a recording of it";
}

/// A file in whose place a tool for large files left where it is.
std::string named_pointer(std::string_view bytes) {
  constexpr std::string_view kMerge = "<<<<<<< ";  // a conflict of two versions
  const bool is_conflict = bytes.starts_with(kMerge);
  std::string_view from = bytes;
  if (is_conflict) from.remove_prefix(std::min(bytes.find('\n'), bytes.size() - 1) + 1);
  if (from.starts_with("version https://git-lfs.github.com/spec/") ||
      from.starts_with("version https://hawser.github.com/spec/")) {
    if (is_conflict) {
      return "is a Git LFS pointer in an unresolved merge conflict, not the file itself: resolve "
             "it, then fetch the file with git lfs pull";
    }
    constexpr std::string_view kSize = "\nsize ";
    const std::size_t at = bytes.find(kSize);
    std::uint64_t size = 0;
    const bool says = at != bytes.npos && leading_digits(bytes.substr(at + kSize.size()), size) > 0;
    return fmt::format("is a Git LFS pointer{}, not the file itself: fetch it with git lfs pull",
                       says ? fmt::format(" to a file of {} bytes", human_count(size)) : "");
  }
  if (bytes.size() < 1000 && bytes.find("/annex/objects/") != bytes.npos) {
    return "is a git-annex pointer, not the file itself: fetch it with git annex get FILE";
  }
  return {};
}

std::string named_page(std::string_view text) {
  if (text.find("<title>gpu memory timeline html</title>") != text.npos) return {};  // has a reader
  if (text.starts_with("<!doctype html") || text.starts_with("<html") ||
      text.starts_with("<head") || (text.starts_with("<!--") && text.find("<html") != text.npos)) {
    return "is a web page (HTML), saved instead of a file: download the file itself (on GitHub "
           "\"Raw\", on Hugging Face \"download\"; curl -L URL)";
  }
  if (!text.starts_with("<?xml") && !text.starts_with("<error>")) return {};
  return text.find("<error>") != text.npos
             ? "is the error message of a server, saved instead of a file: download the file itself"
             : "is XML, not a recording";
}

/// What a server says in place of a file.
std::string named_refusal(std::string_view text) {
  const bool is_of_github = text.starts_with("{") && text.find("\"message\"") != text.npos &&
                            text.find("\"documentation_url\"") != text.npos;
  if (!is_of_github && !text.starts_with("404: not found") && text != "not found" &&
      text != "entry not found") {
    return {};
  }
  return "is the error message of a server (not found), saved instead of a file: check the URL, "
         "and download the file itself";
}

/// What a server gave in place of a file.
std::string named_answer(std::string_view bytes) {
  const std::string text = lower_case_beginning(bytes);
  const std::string page = named_page(text);
  return page.empty() ? named_refusal(text) : page;
}

std::string named_zip(std::string_view bytes) {
  if (!bytes.starts_with("PK\x03\x04") && !bytes.starts_with("PK\x05\x06")) return {};
  constexpr std::size_t kNames = 1 << 16;
  const std::string_view near = bytes.substr(0, kNames);
  if (near.find("/data.pkl") != near.npos || near.find(".data/serialization_id") != near.npos) {
    return "is a file of torch.save (a .pt file, a zip archive of tensors or a model), not a "
           "snapshot; torch.cuda.memory._dump_snapshot writes one. If a snapshot was saved so, "
           "convert it: pickle.dump(torch.load(F, weights_only=True), open(\"run.pickle\", "
           "\"wb\"))";
  }
  if (near.find(".npy") != near.npos)
    return "is a zip archive of NumPy arrays (.npz), not a recording";
  return "is a zip archive: unpack it and name a file in it (unzip FILE)";
}

std::string named_by_extension(std::string_view name) {
  if (name.ends_with(".nsys-rep") || name.ends_with(".qdrep")) {
    return "is a report of Nsight Systems: export it first (nsys export --type sqlite FILE), "
           "recorded with --cuda-memory-usage=true";
  }
  if (name.ends_with(".ncu-rep")) return "is a report of Nsight Compute, which has no allocations";
  return {};
}

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

bool OpenedInput::restore() {
  if (unpacking_ == nullptr || unpacking_->is_whole()) return false;
  guarded([&] {
    input_.bytes = packed_;
    unpack_at_once();
  });
  return true;
}

void OpenedInput::release() {
  if (input_.arrival != nullptr) return;
  input_.bytes = {};
  let_go();
  held_ = {};
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

void OpenedInput::unpack_at_once() {
  input_.arrival = nullptr;
  hold(decompress(input_));
}

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

std::string named_content(std::string_view name, std::string_view bytes) {
  for (const auto named : {named_pointer, named_answer, named_zip, named_capture}) {
    if (std::string what = named(bytes); !what.empty()) return what;
  }
  for (const Signature& signature : kSignatures) {
    if (signature.at < bytes.size() && bytes.substr(signature.at).starts_with(signature.bytes)) {
      return std::string(signature.says);
    }
  }
  // Eight bytes of a length, then its header.
  if (bytes.size() > 10 && bytes.substr(5, 5) == "\0\0\0{\""sv) {
    return "is a safetensors file (a model), not a recording";
  }
  return named_by_extension(name);
}

std::string named_path(std::string_view path) {
  const std::size_t colon = path.find("://");
  const bool is_url = colon != path.npos && colon > 0 &&
                      std::ranges::all_of(path.substr(0, colon), [](unsigned char c) {
                        return std::isalnum(c) != 0 || c == '+' || c == '-' || c == '.';
                      });
  if (!is_url) return {};
  const std::string_view scheme = path.substr(0, colon);
  if (scheme == "file") return "is a URL; expected a path: leave out file://";
  return fmt::format(
      "is a URL; expected a file: download it first ({})",
      scheme.starts_with("http") ? "curl -LO URL" : "nothing is read over a network");
}

}  // namespace memreplay
