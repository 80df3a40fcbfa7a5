#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/torch/snapshot_texts.hpp"
#include "trace/torch/snapshot_words.hpp"

namespace memreplay {

/// What a pickle can hold here. `pair` is a tuple of two whole numbers at or above 0, kept as a
/// pool id; `frame` and `entry` stand in a list that was a stack or a range of entries for a while.
enum class PickleTag : std::uint8_t {
  unset,
  none,
  boolean,
  whole,
  whole_above_2_63,
  huge,          ///< its bytes, two's complement from the least on
  huge_decimal,  ///< its digits
  real,
  text,
  bytes,
  pair,
  frame,
  entry,
  list,
  dict,
  tuple,
};

/// One value in 16 bytes. Texts and huge numbers lie in the input or in PickleStore::decoded.
struct PickleValue {
  PickleTag tag = PickleTag::unset;
  Word word = Word::none;   ///< of a text
  std::uint32_t index = 0;  ///< object, pool, frame or entry; of a text or huge number its length
  std::uint64_t bits = 0;   ///< number, double or address of the text or huge number

  std::string_view text() const { return {reinterpret_cast<const char*>(bits), index}; }
};

/// A list, dict or tuple: what `at` counts depends on the form.
struct PickleObject {
  enum class Form : std::uint8_t {
    empty,
    plain,  ///< PickleStore::contents; of a dict key, value, key, value, …
    entry,  ///< PickleStore::entries
    frame,  ///< a frame of PickleStore::texts
    stack,  ///< a stack of PickleStore::texts
    range,  ///< PickleStore::ranges
  };
  Form form = Form::empty;
  bool in_use = false;  ///< an entry was made from it: it must not change any more
  std::uint32_t at = 0;
};

/// A list of entries that were made one after another.
struct PickleRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// Thrown where a pickle does with converted values what only plain ones can do (changes an entry
/// after it was used, say). Such a pickle is read again without early conversion.
struct NeedsPlainValues {};

/// Everything that a pickle has built so far.
struct PickleStore {
  explicit PickleStore(bool early) : converts_early(early) {}

  const bool converts_early;
  std::vector<PickleObject> objects;
  std::vector<std::vector<PickleValue>> contents;
  std::vector<TorchEntry> entries;
  std::vector<PickleRange> ranges;
  std::uint64_t entry_words = 0;  ///< keys seen in `entries`
  std::deque<std::string> decoded;
  SnapshotTexts texts;

  std::vector<PickleValue>& contents_of(PickleObject& object);
  PickleValue make_tuple(std::span<const PickleValue> items);
  /// Appends to a list; a list of frames becomes a stack at once.
  void append(std::uint32_t list, std::span<const PickleValue> items);
  /// Adds key, value, … to a dict; an entry or a frame is converted at once.
  void set_items(std::uint32_t dict, std::span<const PickleValue> items);

 private:
  bool try_entry(PickleObject& dict, std::span<const PickleValue> items);
  bool try_frame(PickleObject& dict, std::span<const PickleValue> items);
  bool try_stack(PickleObject& list, std::span<const PickleValue> items);
  bool try_range(PickleObject& list, std::span<const PickleValue> items);
  void make_plain(PickleObject& list);
  /// The stack of a list of frames, which is then in use.
  bool stack_of(const PickleValue& list, std::uint32_t& stack);

  std::vector<std::uint32_t> frame_numbers_;
};

}  // namespace memreplay
