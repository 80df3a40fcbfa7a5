#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/snapshot/snapshot_texts.hpp"
#include "trace/snapshot/snapshot_words.hpp"

namespace memreplay {

/// What a pickle can hold here. `pair` is a tuple of two whole numbers at or above 0, kept as a
/// pool id; `frame` stands in a list that was a stack for a while. `entry` and `stack` are a dict
/// and a list that were converted as they were read, and must not change any more.
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
  stack,
  list,
  dict,
  tuple,
};

/// One value in 16 bytes. Texts and huge numbers lie in the input or in the PickleStore.
struct PickleValue {
  PickleTag tag = PickleTag::unset;
  Word word = Word::none;  ///< which known text it is
  std::uint32_t index =
      0;  ///< object, pool, frame, entry or stack; of a text or huge number its length
  std::uint64_t bits = 0;  ///< number, double or address of the text or huge number

  std::string_view text() const { return {reinterpret_cast<const char*>(bits), index}; }
};

inline bool is_handle(const PickleValue& v) {
  return v.tag == PickleTag::whole || v.tag == PickleTag::whole_above_2_63;
}

inline bool is_size(const PickleValue& v) {
  return v.tag == PickleTag::whole && static_cast<std::int64_t>(v.bits) >= 0;
}

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

/// A trace entry, as far as its keys have been read.
struct PickleEntry {
  TorchEntry entry;
  std::uint64_t device_free = 0;
  std::uint64_t keys = 0;
};

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
  std::deque<std::string> kept;  ///< pieces with room for many texts, which never move
  SnapshotTexts texts;

  /// A copy of a text that will be gone.
  std::string_view keep(std::string_view text);
  std::vector<PickleValue>& contents_of(PickleObject& object);
  PickleValue make_tuple(std::span<const PickleValue> items);
  /// Appends to a list; a list of frames becomes a stack at once.
  void append(std::uint32_t list, std::span<const PickleValue> items);
  /// Adds key, value, … to a dict; an entry or a frame is converted at once.
  void set_items(std::uint32_t dict, std::span<const PickleValue> items);
  /// Sets a field of an entry, adds one that is complete. False: it stays plain, and the conversion
  /// says what is wrong with it.
  bool set_field(PickleEntry& made, Word key, const PickleValue& value);
  bool add_entry(PickleEntry& made);

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

// Here, as most of a large snapshot is entries.
inline bool PickleStore::set_field(PickleEntry& made, Word key, const PickleValue& v) {
  TorchEntry& entry = made.entry;
  made.keys |= bit_of(key);
  switch (key) {
    case Word::action:
      if (v.tag != PickleTag::text || v.word < Word::alloc || v.word > Word::annotate) return false;
      entry.action =
          static_cast<TorchAction>(static_cast<int>(v.word) - static_cast<int>(Word::alloc));
      return true;
    case Word::addr:
      entry.address = v.bits;
      return is_handle(v);
    case Word::device_free:
      made.device_free = v.bits;
      return is_handle(v);
    case Word::size:
      entry.size = v.bits;
      return is_size(v);
    case Word::stream:
      entry.stream = v.bits;
      return is_handle(v);
    case Word::time_us:
      entry.time_us = static_cast<std::int64_t>(v.bits);
      return v.tag == PickleTag::whole;
    case Word::user_metadata:
      if (v.tag != PickleTag::text) return false;
      entry.tag = v.index == 0 ? 0 : texts.text(v.text());
      return true;
    case Word::pool_id:
      entry.pool = v.index;
      return v.tag == PickleTag::pair;
    case Word::frames:
      return stack_of(v, entry.stack);
    default:
      return true;
  }
}

}  // namespace memreplay
