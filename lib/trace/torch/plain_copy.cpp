#include "trace/torch/plain_copy.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "trace/snapshot/snapshot_checks.hpp"

namespace memreplay {
namespace {

constexpr int kDeepest = 1000;                              // a snapshot nests six deep
constexpr std::uint64_t kMostCopies = 1000;                 // values written per byte read
constexpr std::uint64_t kPoolIds = std::uint64_t{1} << 32;  // above the numbers of objects

class PlainCopy {
 public:
  PlainCopy(const Input& input, PickleStore& store, ValueWriter& writer)
      : input_(input),
        store_(store),
        writer_(writer),
        left_((input.bytes.size() + 1) * kMostCopies),
        mentions_(store.objects.size()) {
    for (const auto& items : store.contents) {
      for (const PickleValue& item : items) {
        if (is_object(item)) mentions_[item.index] += mentions_[item.index] < 2;
      }
    }
  }

  void check_root(const PickleValue& root) const {
    if (root.tag == PickleTag::list) return;
    const auto is_key = [](const PickleValue& v) {
      return v.word == Word::segments || v.word == Word::device_traces;
    };
    if (root.tag == PickleTag::dict && std::ranges::any_of(items(root), is_key)) return;
    refuse_snapshot(input_.name, "expected a dict with segments and device_traces");
  }

  void value(const PickleValue& value, int depth) {
    if (depth > kDeepest) refuse_snapshot(input_.name, "nested more than 1000 deep");
    if (left_-- == 0) refuse_snapshot(input_.name, "repeats itself too often");
    switch (value.tag) {
      case PickleTag::none:
        return writer_.scalar(std::monostate{});
      case PickleTag::boolean:
        return writer_.scalar(value.bits != 0);
      case PickleTag::whole:
        return writer_.scalar(static_cast<std::int64_t>(value.bits));
      case PickleTag::whole_above_2_63:
        return writer_.scalar(value.bits);
      case PickleTag::huge:
        return writer_.scalar(HugeNumber{value.text(), false});
      case PickleTag::huge_decimal:
        return writer_.scalar(HugeNumber{value.text(), true});
      case PickleTag::real:
        return writer_.scalar(std::bit_cast<double>(value.bits));
      case PickleTag::text:
        return writer_.scalar(value.text());
      case PickleTag::bytes:
        return writer_.scalar(ByteString{value.text()});
      case PickleTag::pair:
        return pair(value.index);
      case PickleTag::list:
        return object(Container::list, value, depth);
      case PickleTag::dict:
        return object(Container::dict, value, depth);
      case PickleTag::tuple:
        return object(Container::tuple, value, depth);
      default:
        throw std::logic_error("a snapshot that was converted early cannot be copied");
    }
  }

 private:
  static bool is_object(const PickleValue& value) {
    return value.tag == PickleTag::list || value.tag == PickleTag::dict ||
           value.tag == PickleTag::tuple;
  }

  const std::vector<PickleValue>& items(const PickleValue& value) const {
    static const std::vector<PickleValue> kNothing;
    const PickleObject& object = store_.objects[value.index];
    return object.form == PickleObject::Form::empty ? kNothing : store_.contents[object.at];
  }

  void object(Container kind, const PickleValue& value, int depth) {
    const bool shared = mentions_[value.index] > 1;
    if (shared && writer_.recall(value.index)) return;
    writer_.open(kind, shared ? std::optional<std::uint64_t>(value.index) : std::nullopt);
    for (const PickleValue& item : items(value)) this->value(item, depth + 1);
    writer_.close();
  }

  void pair(std::uint32_t number) {
    if (writer_.recall(kPoolIds + number)) return;
    const PoolId id = store_.texts.pool_id(number);
    writer_.open(Container::tuple, kPoolIds + number);
    writer_.scalar(id.first);
    writer_.scalar(id.second);
    writer_.close();
  }

  const Input& input_;
  PickleStore& store_;
  ValueWriter& writer_;
  std::uint64_t left_;                  ///< values that may still be written
  std::vector<std::uint8_t> mentions_;  ///< by object: 0, 1, 2 for more
};

}  // namespace

void write_plain(const Input& input, PickleStore& store, const PickleValue& root,
                 ValueWriter& writer) {
  PlainCopy copy(input, store, writer);
  copy.check_root(root);
  try {
    copy.value(root, 0);
  } catch (const std::invalid_argument& error) {
    throw InputError(input.name, "", error.what());
  }
  writer.finish();
}

}  // namespace memreplay
