#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "output/output_file.hpp"

namespace memreplay {

/// A file that is read, changed and written. Where several processes do so at once, no change is
/// lost: one that was made since the file was read is never overwritten.
class RevisedFile {
 public:
  /// Throws InputError where it cannot be read, UsageError where it cannot be written.
  explicit RevisedFile(const OutputPath& path);

  /// What the file holds; unset where there is none.
  const std::optional<std::string>& text() const { return text_; }
  /// Replaces the file's content. False where it is no longer `text`, which is read anew then: the
  /// change is to be made again. Throws as the constructor.
  bool replace(std::string_view text);

 private:
  std::string path_;
  std::optional<std::string> text_;
  OutputFile file_;
};

}  // namespace memreplay
