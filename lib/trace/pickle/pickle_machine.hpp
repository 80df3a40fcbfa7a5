#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/pages.hpp"
#include "trace/pickle/pickle_opcodes.hpp"
#include "trace/pickle/pickle_runs.hpp"
#include "trace/pickle/pickle_value.hpp"
#include "trace/reader.hpp"

namespace memreplay {

/// What was read, before all bytes had arrived, cannot be told from something wrong: it is to be
/// read again when they have.
struct NeedsAllBytes {};

/// Runs the opcodes of a pickle that build plain values and refuses all others. Nothing recurses on
/// the input, and no length of the file is believed before it is compared with what is left.
class PickleMachine {
 public:
  PickleMachine(const Input& input, PickleStore& store);

  /// The value at STOP; what follows is ignored. Throws InputError with the byte, NeedsPlainValues,
  /// NeedsAllBytes.
  PickleValue run();

 private:
  using Byte = unsigned char;

  [[noreturn]] void fail(const Byte* at, const std::string& message) const;
  [[noreturn]] void truncated(const Byte* at) const;
  [[noreturn]] void underflow(const Byte* at) const;
  [[noreturn]] void bad_memo(const Byte* at, std::uint64_t number) const;
  [[noreturn]] void too_long(const Byte* at, std::uint64_t length, const Byte* data) const;
  [[noreturn]] void refuse_code(const Byte* at, const Byte* p) const;
  std::string code_arguments(PickleOp op, const Byte* p) const;

  /// Another opcode is there to be read, and where bytes still arrive, some after it.
  bool has_opcode(const Byte* p);
  void grow_stack();
  /// Room in the memo and for entries, for as many as there will be if the rest has as many as the
  /// piece before `p`: that they double takes three times the memory for a while.
  void make_room(const Byte* p);
  /// The rest of a line, without its end; moves p after it.
  std::string_view line(const Byte* at, const Byte*& p) const;
  std::uint64_t line_number(const Byte* at, const Byte*& p) const;
  /// A text that lies in the input.
  PickleValue text_value(std::string_view text) {
    return value_of(is_let_go_ ? store_.keep(text) : text);
  }
  static PickleValue value_of(std::string_view text);
  PickleValue keep_text(std::string text);
  /// A two's complement of any length.
  PickleValue long_at(const Byte* p, std::uint64_t length);
  PickleValue counted(const Byte* at, const Byte*& p, unsigned length_bytes, PickleTag tag);
  PickleValue new_object(PickleTag tag);
  void put(const Byte* at, std::uint64_t number);

  // Above the last mark; throws where there is none.
  std::size_t pop_mark(const Byte* at);
  std::span<const PickleValue> above(std::size_t height) const {
    return {stack_.data() + height, top_ - height};
  }
  void set_items(const Byte* at, std::size_t height);
  void append(const Byte* at, std::size_t height);
  /// The byte after the APPENDS of a known stack for the list on top; p where there is none.
  const Byte* skip_known_stack(const Byte* p);
  class EntryAhead;
  /// A key as the last entry referred to it.
  struct EntryKey {
    std::uint64_t bytes = 1;
    std::uint64_t mask = 0;  ///< covers the bytes of the reference; at first matches no key
    std::uint32_t length = 0;
    Word word = Word::none;
  };
  /// The byte after the trace entry whose EMPTY_DICT was read, pushed as converted; p where
  /// something else or an unusual entry stands there.
  const Byte* skip_entry(const Byte* p);
  void push(const PickleValue& value) {
    if (top_ == stack_.size()) grow_stack();
    stack_[top_++] = value;
  }
  PickleValue& pop(const Byte* at) {
    if (top_ <= floor_) underflow(at);
    return stack_[--top_];
  }
  /// All opcodes that large snapshots hardly use; returns the next byte.
  const Byte* rare(const Byte* at, const Byte* p);

  std::string name_;
  const Byte* begin_;
  const Byte* end_;               ///< end of what has arrived
  const Byte* ready_;             ///< up to here opcodes are read without a look at what arrives
  std::size_t size_;              ///< all bytes
  Unpacking* arrival_ = nullptr;  ///< null: nothing more arrives
  const bool is_let_go_;          ///< bytes that were read will be gone
  PickleStore& store_;
  std::vector<PickleValue> stack_;
  std::size_t top_ = 0;
  std::size_t floor_ = 0;  ///< height at the last mark
  std::vector<std::size_t> marks_;
  std::vector<PickleValue> memo_;
  std::size_t memo_used_ = 0;
  PickleRuns runs_;
  std::array<EntryKey, 16> entry_keys_;
  const Byte* run_begin_ = nullptr;  ///< memo references after MARK, for an empty list
  const Byte* run_end_ = nullptr;    ///< its APPENDS, where nothing else stands between
  PagesBehind behind_;
  const Byte* piece_;  ///< where the latest piece begins, and how much there was then
  std::size_t memo_before_ = 0;
  std::size_t entries_before_ = 0;
};

/// The protocol of a pickle as its PROTO states it; 0 or 1 where it has none.
int pickle_protocol(std::string_view bytes);

}  // namespace memreplay
