#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace memreplay {

/// A whole number beyond 64 bits: decimal digits, or two's complement, least byte first.
struct HugeNumber {
  std::string_view text;
  bool decimal = true;
};

struct ByteString {
  std::string_view bytes;
};

using PlainScalar = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, HugeNumber,
                                 double, std::string_view, ByteString>;

enum class Container : std::uint8_t { list, dict, tuple };

/// Takes one plain value part by part, in the order of the document; of a dict key, value, key,
/// value. It keeps no view of what it was given.
class ValueWriter {
 public:
  /// The caller's own name of an object that it may mention again.
  using ObjectId = std::uint64_t;

  virtual ~ValueWriter() = default;
  virtual void scalar(const PlainScalar& value) = 0;
  /// Begins a list, dict or tuple: its items follow, then `close`.
  virtual void open(Container kind, std::optional<ObjectId> id = std::nullopt) = 0;
  virtual void close() = 0;
  /// Mentions the object that was opened under this name. False, and nothing is written, where
  /// none was or the format has no such mention: the caller writes the object out.
  virtual bool recall(ObjectId id) = 0;
  /// Ends the output; to be called once, after the whole value.
  virtual void finish() = 0;
};

/// One function object of several, for std::visit.
template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace memreplay
