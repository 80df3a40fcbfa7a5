#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace memreplay {

/// A file that can be made again at any time.
struct CachedFile {
  std::string name;
  std::string content;
};

/// Where files are kept that other programs load: $XDG_CACHE_HOME/memreplay, ~/.cache/memreplay, or
/// memreplay-UID among the temporary files; the first that nobody but this user and root can
/// change, and that LD_PRELOAD and PYTHONPATH can name. Where none is, a fresh folder, removed with
/// this object.
class Cache {
 public:
  Cache();
  /// Looks at these places instead. Throws InputError where nothing can be written.
  explicit Cache(const std::vector<std::filesystem::path>& places);
  ~Cache();
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Why the folder is a fresh one, for people; empty where it is not.
  const std::string& note() const { return note_; }
  /// A fresh folder stays: the caller says to whom it is left. Unset where it is none.
  std::optional<std::filesystem::path> leave();

  /// A folder in the cache with these files and no others. What is there is compared with their
  /// content, and made anew where it differs. Throws InputError where it cannot be written.
  std::filesystem::path folder_with(const std::string& name,
                                    const std::vector<CachedFile>& files) const;

 private:
  std::filesystem::path path_;
  std::string note_;
  bool is_fresh_ = false;
};

}  // namespace memreplay
