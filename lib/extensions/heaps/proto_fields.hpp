#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "trace/reader.hpp"

namespace memreplay {

enum WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kLengthGiven = 2, kFixed32 = 5 };

/// A field of a message: a number, or bytes of the file.
struct ProtoField {
  std::uint64_t number = 0;
  WireType wire = kVarint;
  std::uint64_t value = 0;  ///< where its width is fixed, as its bytes are
  std::string_view bytes;
};

/// Walks the fields of a message. Which of them hold messages again is its caller's to know: no
/// file decides how deep a walk goes.
class ProtoMessage {
 public:
  /// `bytes` are some of the input's, which outlives this.
  ProtoMessage(const Input& input, std::string_view bytes) : input_(input), rest_(bytes) {}

  /// False after the last. Throws InputError with the byte at which it is no field.
  bool next(ProtoField& field);
  std::uint64_t varint();
  bool at_end() const { return rest_.empty(); }

  [[noreturn]] void fail(std::string_view what) const;

 private:
  const Input& input_;
  std::string_view rest_;
};

/// Calls `use` with every field of the message.
template <typename Use>
void for_each_field(const Input& input, std::string_view bytes, const Use& use) {
  ProtoMessage message(input, bytes);
  for (ProtoField field; message.next(field);) use(field);
}

/// A repeated number, packed or one by one.
template <typename Use>
void for_each_number(const Input& input, const ProtoField& field, const Use& use) {
  if (field.wire == kVarint) return use(field.value);
  ProtoMessage packed(input, field.bytes);
  while (!packed.at_end()) use(packed.varint());
}

/// Two numbers of a message, by their fields.
std::pair<std::uint64_t, std::uint64_t> numbers_of(const Input& input, std::string_view bytes,
                                                   std::uint64_t first, std::uint64_t second);

/// The beginning of a message, for who recognises a format by it: what is cut off is passed over.
class ProtoBeginning {
 public:
  explicit ProtoBeginning(std::string_view bytes) : rest_(bytes) {}

  /// The bytes of the next field, if it has that number and bytes; else nothing is taken.
  std::optional<std::string_view> take_bytes(std::uint64_t number);
  /// Its number, likewise.
  std::optional<std::uint64_t> take_number(std::uint64_t number);

 private:
  std::optional<std::uint64_t> take_varint();

  std::string_view rest_;
};

}  // namespace memreplay
