#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "trace/torch/snapshot_checks.hpp"
#include "trace/torch/snapshot_texts.hpp"
#include "trace/torch/snapshot_words.hpp"
#include "trace/torch/torch_snapshot.hpp"

namespace memreplay {

/// Turns a value of any origin into a TorchSnapshot. A View is a small handle with
///   kind, boolean, whole, real, text; size and item of a list; find(Word | text) in a dict;
///   identity: equal for one object referred to twice, 0 when that cannot be told.
/// A view whose source has converted entries, frames, stacks or pools already says so by the
/// functions ready_...
template <class View>
class SnapshotConversion {
 public:
  /// `limit`: more items than this cannot stand in the source; repeated references can claim more.
  /// `host`: its pinned host memory instead of its devices.
  SnapshotConversion(std::string_view file, SnapshotTexts& texts, std::uint64_t limit, bool host)
      : file_(file), texts_(texts), limit_(limit), host_(host) {}

  TorchSnapshot convert(const View& root);

 private:
  using Path = SnapshotPath;

  [[noreturn]] void refuse(const View& value, const Path& at, std::string_view expected) const;
  void count(std::size_t items, const Path& at);

  // Values: each throws unless the value is of the kind.
  std::size_t list_size(const View& value, const Path& at) const;
  std::uint64_t number(const View& value, const Path& at, std::string_view expected) const;
  Bytes bytes(const View& value, const Path& at) const;
  std::uint64_t handle(const View& value, const Path& at) const;
  std::int64_t signed_number(const View& value, const Path& at) const;
  double real(const View& value, const Path& at) const;
  bool truth(const View& value, const Path& at) const;
  decltype(auto) text(const View& value, const Path& at) const {
    if (value.kind() != ValueKind::text) refuse(value, at, "a text");
    return value.text();
  }
  PoolId pool_id(const View& value, const Path& at) const;
  std::uint32_t line_number(const View& value, const Path& at) const;

  // Fields of a dict: calls `read(value, path)` where the key stands there.
  template <class Read>
  bool optional(const View& dict, Word key, const Path& at, Read&& read) const {
    const std::optional<View> value = dict.find(key);
    if (value) read(*value, Path{&at, text_of(key)});
    return value.has_value();
  }
  template <class Read>
  void required(const View& dict, Word key, const Path& at, std::string_view expected,
                Read&& read) const {
    if (!optional(dict, key, at, read)) refuse_missing(file_, {&at, text_of(key)}, expected);
  }
  static std::uint64_t keys_of(const View& dict, std::initializer_list<Word> keys) {
    std::uint64_t found = 0;
    for (const Word key : keys) found |= dict.find(key) ? bit_of(key) : 0;
    return found;
  }

  std::uint32_t pool(const View& value, const Path& at);
  std::uint32_t frame(const View& value, const Path& at);
  std::uint32_t stack(const View& value, const Path& at);
  TorchBlock block(const View& value, const Path& at, Address address);
  TorchSegment segment(const View& value, const Path& at);
  void segments(const View& value, const Path& at);
  std::optional<TorchEntry> entry(const View& value, const Path& at);
  void entries(const View& value, const Path& at, bool last);
  void settings(const View& value, const Path& at);
  void annotations(const View& value, const Path& at);

  std::string file_;
  SnapshotTexts& texts_;
  std::uint64_t limit_;
  bool host_;
  std::uint64_t counted_ = 0;
  TorchSnapshot snapshot_;
  SnapshotEvidence evidence_;
  std::unordered_map<std::uintptr_t, std::uint32_t> stack_of_list_;
  std::vector<std::uint32_t> frame_numbers_;
};

template <class View>
TorchSnapshot convert_snapshot(const View& root, std::string_view file, SnapshotTexts& texts,
                               std::uint64_t limit, bool host = false) {
  return SnapshotConversion<View>(file, texts, limit, host).convert(root);
}

}  // namespace memreplay

#include "trace/torch/snapshot_conversion_parts.hpp"
#include "trace/torch/snapshot_conversion_values.hpp"
