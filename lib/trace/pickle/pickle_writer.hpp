#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/pickle/pickle_opcodes.hpp"
#include "trace/value_writer.hpp"

namespace memreplay {

/// Writes a pickle of protocol 4 by the opcodes that Python itself uses for plain values. Equal
/// texts and recalled objects are shared through the memo. Memory: the memo and 64 KiB.
class PickleWriter final : public ValueWriter {
 public:
  /// What becomes of texts that are no UTF-8: written as Python 2 did, which Python 3 reads with an
  /// encoding alone, or with U+FFFD for the bytes in question.
  enum class NoUtf8 : std::uint8_t { kept, replaced };

  explicit PickleWriter(std::ostream& out, NoUtf8 no_utf8 = NoUtf8::kept);

  void scalar(const PlainScalar& value) override;
  void open(Container kind, std::optional<ObjectId> id = std::nullopt) override;
  void close() override;
  bool recall(ObjectId id) override;
  void finish() override;

  std::uint64_t replaced_texts() const { return replaced_texts_; }

 private:
  struct Open {
    Container kind = Container::list;
    std::optional<ObjectId> id;
    std::uint32_t batch = 0;  ///< items since the last MARK
  };
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  void put(PickleOp op) { frame_ += static_cast<char>(op); }
  void put_number(std::uint64_t value, unsigned bytes);
  void put_whole(std::int64_t value);
  void put_huge(const HugeNumber& number);
  void put_real(double value);
  void put_text(std::string_view text);
  void put_bytes(std::string_view bytes);
  void get(std::uint32_t memo);
  void begin_item();
  void end_item();
  void end_batch(const Open& open);
  void memoize(ObjectId id);
  void flush();

  std::ostream& out_;
  const NoUtf8 no_utf8_;
  std::uint64_t replaced_texts_ = 0;
  std::string frame_;  ///< what the next FRAME will hold
  std::vector<Open> open_;
  std::uint32_t memo_used_ = 0;
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> texts_;
  std::unordered_map<ObjectId, std::uint32_t> objects_;
};

}  // namespace memreplay
