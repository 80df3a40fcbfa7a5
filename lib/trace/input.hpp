#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "trace/decompress.hpp"
#include "trace/reader.hpp"

namespace memreplay {

/// A small file's bytes as they are. Throws InputError.
std::string read_file(const std::string& path);

/// When the bytes of a compressed file are there.
enum class Unpack {
  at_once,  ///< before they are looked at
  beside,   ///< all but the beginning may still arrive (Input::arrival)
};

/// A file's bytes, mapped or held in memory, decompressed where its first bytes say gzip or zstd.
class OpenedInput {
 public:
  /// Whether a compressed file is wanted, by the beginning of what it holds.
  using Wanted = std::function<bool(const Input& beginning)>;

  /// Opens a file; "-" is standard input. A compressed one that is not `wanted`, when that is
  /// given, is unpacked no further than it was looked at. Throws InputError.
  explicit OpenedInput(const std::string& path, Unpack unpack = Unpack::at_once,
                       const Wanted& wanted = {});
  /// Bytes that are at hand, and outlive this.
  OpenedInput(const std::string& name, std::string_view bytes, Unpack unpack = Unpack::at_once,
              const Wanted& wanted = {});
  ~OpenedInput();
  OpenedInput(const OpenedInput&) = delete;
  OpenedInput& operator=(const OpenedInput&) = delete;

  const Input& input() const { return input_; }
  /// Waits until all bytes are at hand. False where those that had arrived were of a file that
  /// holds another number than it said: now they are elsewhere, and to be read anew. Throws
  /// InputError.
  bool await_all();
  /// Unpacks again what a reader let go of as it arrived; false where nothing was. Call after
  /// await_all. Throws InputError.
  bool restore();
  /// Gives the bytes back, unless some still arrive.
  void release();

 private:
  template <typename Fill>
  void guarded(Fill fill);
  void unpack(Unpack when, const Wanted& wanted);
  /// Leaves the beginning as the content where it is not wanted.
  bool looks_wanted(const Wanted& wanted);
  void hold(std::string content);
  void unpack_at_once();
  /// More than `count` bytes. As await_all.
  bool await(std::size_t count);
  void map_or_read(int file);
  void let_go();

  Input input_;
  std::string held_;
  std::string_view packed_;  ///< what `unpacking_` reads
  std::unique_ptr<Unpacking> unpacking_;
  void* mapping_ = nullptr;
  std::size_t mapped_bytes_ = 0;
};

/// What a file is that no reader takes, and what to do with it: "is a zip archive: unpack it …".
/// Known by its first bytes: pointers of Git LFS and git-annex, web pages, archives, tensors and
/// models, reports of other tools, pictures. Empty for anything else. `name` is that of the file.
std::string named_content(std::string_view name, std::string_view bytes);

/// What a path is that cannot be opened: a URL, which is to be downloaded. Empty: nothing known.
std::string named_path(std::string_view path);

}  // namespace memreplay
