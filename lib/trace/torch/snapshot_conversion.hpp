#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "trace/snapshot/snapshot_checks.hpp"
#include "trace/snapshot/snapshot_texts.hpp"
#include "trace/snapshot/snapshot_words.hpp"
#include "trace/snapshot/torch_snapshot.hpp"

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

// Single values and stacks.

template <class View>
void SnapshotConversion<View>::refuse(const View& value, const Path& at,
                                      std::string_view expected) const {
  switch (value.kind()) {
    case ValueKind::whole:
      refuse_value(file_, at, describe(value.whole()), expected);
    case ValueKind::real:
      refuse_value(file_, at, describe(value.real()), expected);
    case ValueKind::text:
      refuse_value(file_, at, describe(std::string_view(value.text())), expected);
    case ValueKind::boolean:
      refuse_value(file_, at, value.boolean() ? "true" : "false", expected);
    default:
      refuse_value(file_, at, describe(value.kind()), expected);
  }
}

template <class View>
void SnapshotConversion<View>::count(std::size_t items, const Path& at) {
  counted_ += items;
  if (counted_ > limit_) {
    refuse_value(file_, at, "repeated", "no more entries than the file has bytes");
  }
}

template <class View>
std::size_t SnapshotConversion<View>::list_size(const View& value, const Path& at) const {
  if (value.kind() != ValueKind::list) refuse(value, at, "a list");
  return value.size();
}

template <class View>
std::uint64_t SnapshotConversion<View>::number(const View& value, const Path& at,
                                               std::string_view expected) const {
  if (value.kind() != ValueKind::whole) refuse(value, at, expected);
  const WholeNumber number = value.whole();
  if (number.negative || number.huge) refuse(value, at, expected);
  return number.bits;
}

template <class View>
Bytes SnapshotConversion<View>::bytes(const View& value, const Path& at) const {
  const Bytes size = number(value, at, "a whole number of bytes");
  if (size > INT64_MAX) refuse(value, at, "a whole number of bytes below 2^63");
  return size;
}

// Addresses and stream handles: the C++ pickler writes those from 2^63 on as negative numbers.
template <class View>
std::uint64_t SnapshotConversion<View>::handle(const View& value, const Path& at) const {
  if (value.kind() != ValueKind::whole || value.whole().huge) {
    refuse(value, at, "a whole number of 64 bits");
  }
  return value.whole().bits;
}

template <class View>
std::int64_t SnapshotConversion<View>::signed_number(const View& value, const Path& at) const {
  constexpr std::string_view kExpected = "a whole number of 64 bits";
  if (value.kind() != ValueKind::whole) refuse(value, at, kExpected);
  const WholeNumber number = value.whole();
  if (number.huge || (!number.negative && number.bits > INT64_MAX)) refuse(value, at, kExpected);
  return static_cast<std::int64_t>(number.bits);
}

template <class View>
double SnapshotConversion<View>::real(const View& value, const Path& at) const {
  if (value.kind() == ValueKind::real) return value.real();
  if (value.kind() != ValueKind::whole) refuse(value, at, "a number");
  return static_cast<double>(signed_number(value, at));
}

template <class View>
bool SnapshotConversion<View>::truth(const View& value, const Path& at) const {
  if (value.kind() != ValueKind::boolean) refuse(value, at, "true or false");
  return value.boolean();
}

template <class View>
PoolId SnapshotConversion<View>::pool_id(const View& value, const Path& at) const {
  if (value.kind() != ValueKind::list || value.size() != 2) refuse(value, at, "two whole numbers");
  const auto half = [&](std::size_t i) {
    return number(value.item(i), Path{&at, {}, i}, "a whole number");
  };
  const std::uint64_t first = half(0);
  return {first, half(1)};
}

template <class View>
std::uint32_t SnapshotConversion<View>::pool(const View& value, const Path& at) {
  if constexpr (requires { value.ready_pool(); }) {
    if (const auto ready = value.ready_pool()) return *ready;
  }
  return texts_.pool(pool_id(value, at));
}

template <class View>
std::uint32_t SnapshotConversion<View>::line_number(const View& value, const Path& at) const {
  constexpr std::string_view kExpected = "a line number";
  if (value.kind() != ValueKind::whole || value.whole().huge) refuse(value, at, kExpected);
  if (value.whole().bits == kNoLineWritten) return kNoLine;
  const std::uint64_t line = number(value, at, kExpected);
  if (line >= kNoLine) refuse(value, at, kExpected);
  return static_cast<std::uint32_t>(line);
}

template <class View>
std::uint32_t SnapshotConversion<View>::frame(const View& value, const Path& at) {
  if constexpr (requires { value.ready_frame(); }) {
    if (const auto ready = value.ready_frame()) return *ready;
  }
  if (value.kind() != ValueKind::dict) refuse(value, at, "a frame with name, filename and line");
  std::string name, file;
  std::uint32_t line = 0;
  optional(value, Word::name, at, [&](const View& v, const Path& p) { name = text(v, p); });
  optional(value, Word::filename, at, [&](const View& v, const Path& p) { file = text(v, p); });
  optional(value, Word::line, at, [&](const View& v, const Path& p) { line = line_number(v, p); });
  return texts_.frame(name, file, line);
}

template <class View>
std::uint32_t SnapshotConversion<View>::stack(const View& value, const Path& at) {
  if constexpr (requires { value.ready_stack(); }) {
    if (const auto ready = value.ready_stack()) return *ready;
  }
  if (value.kind() == ValueKind::none) return 0;
  const std::size_t depth = list_size(value, at);
  const std::uintptr_t list = value.identity();
  if (list != 0) {
    const auto known = stack_of_list_.find(list);
    if (known != stack_of_list_.end()) return known->second;
  }
  frame_numbers_.clear();
  for (std::size_t i = 0; i < depth; ++i) {
    frame_numbers_.push_back(frame(value.item(i), Path{&at, {}, i}));
  }
  const std::uint32_t number = texts_.stack(frame_numbers_);
  if (list != 0) stack_of_list_.emplace(list, number);
  return number;
}

}  // namespace memreplay

#include "trace/torch/snapshot_conversion_parts.hpp"
