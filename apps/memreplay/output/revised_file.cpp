#include "output/revised_file.hpp"

#include <fcntl.h>

#include <filesystem>
#include <system_error>

#include "core/system_calls.hpp"
#include "trace/json/json_node.hpp"

namespace memreplay {
namespace {

std::optional<std::string> content_of(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::status(path, ignored))) return std::nullopt;
  return text_of_file(path);
}

/// Opens the folder of a file, which is locked as the file itself is replaced. File systems that
/// lock no folders (NFS) leave the moment between comparing and replacing unguarded.
int open_folder_of(const std::string& path) {
  std::error_code ignored;
  const auto folder =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path), ignored).parent_path();
  return uninterrupted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
}

}  // namespace

RevisedFile::RevisedFile(const OutputPath& path)
    : path_(path.text()), text_(content_of(path_)), file_(path) {}

bool RevisedFile::replace(std::string_view text) {
  const FileLock lock(open_folder_of(path_));
  std::error_code ignored;
  const bool is_kept = std::filesystem::is_regular_file(path_, ignored) || !text_;
  if (is_kept) {
    std::optional<std::string> now = content_of(path_);
    if (now != text_) {
      text_ = std::move(now);
      return false;
    }
  }
  file_.stream() << text;
  file_.commit();
  return true;
}

}  // namespace memreplay
