#include "extensions/heaps/proto_fields.hpp"

#include <algorithm>
#include <cstring>

#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kLongestVarint = 10;
constexpr std::string_view kCut = "ends too early: the file is truncated, or no protobuf";

}  // namespace

bool ProtoMessage::next(ProtoField& field) {
  if (rest_.empty()) return false;
  const std::uint64_t key = varint();
  field = {.number = key >> 3, .wire = static_cast<WireType>(key & 7)};
  if (field.wire == kVarint) {
    field.value = varint();
  } else if (field.wire == kLengthGiven) {
    const std::uint64_t length = varint();
    if (length > rest_.size()) fail(kCut);
    field.bytes = rest_.substr(0, length);
    rest_.remove_prefix(length);
  } else {
    const std::size_t width = field.wire == kFixed64 ? sizeof field.value : 4;
    if (field.wire != kFixed64 && field.wire != kFixed32) fail("is no field of a protobuf");
    if (width > rest_.size()) fail(kCut);
    std::memcpy(&field.value, rest_.data(), width);
    rest_.remove_prefix(width);
  }
  return true;
}

std::uint64_t ProtoMessage::varint() {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < kLongestVarint; ++i) {
    if (i == rest_.size()) fail(kCut);
    const auto byte = static_cast<unsigned char>(rest_[i]);
    value |= std::uint64_t{byte & 0x7Fu} << (7 * i);
    if ((byte & 0x80) != 0) continue;
    rest_.remove_prefix(i + 1);
    return value;
  }
  fail("has a number of more than 64 bits");
}

void ProtoMessage::fail(std::string_view what) const {
  const auto at = static_cast<std::uint64_t>(rest_.data() - input_.bytes.data());
  throw InputError(input_.name, "byte " + human_count(at), what);
}

std::pair<std::uint64_t, std::uint64_t> numbers_of(const Input& input, std::string_view bytes,
                                                   std::uint64_t first, std::uint64_t second) {
  std::pair<std::uint64_t, std::uint64_t> numbers;
  for_each_field(input, bytes, [&](const ProtoField& field) {
    if (field.number == first) numbers.first = field.value;
    if (field.number == second) numbers.second = field.value;
  });
  return numbers;
}

std::optional<std::uint64_t> ProtoBeginning::take_varint() {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(rest_.size(), kLongestVarint); ++i) {
    const auto byte = static_cast<unsigned char>(rest_[i]);
    value |= std::uint64_t{byte & 0x7Fu} << (7 * i);
    if ((byte & 0x80) != 0) continue;
    rest_.remove_prefix(i + 1);
    return value;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> ProtoBeginning::take_number(std::uint64_t number) {
  const std::string_view before = rest_;
  if (take_varint() == (number << 3 | kVarint)) {
    if (const auto value = take_varint()) return value;
  }
  rest_ = before;
  return std::nullopt;
}

std::optional<std::string_view> ProtoBeginning::take_bytes(std::uint64_t number) {
  const std::string_view before = rest_;
  if (take_varint() == (number << 3 | kLengthGiven)) {
    if (const auto length = take_varint()) {
      const std::string_view bytes = rest_.substr(0, *length);
      rest_.remove_prefix(bytes.size());
      return bytes;
    }
  }
  rest_ = before;
  return std::nullopt;
}

}  // namespace memreplay
