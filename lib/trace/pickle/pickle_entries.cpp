#include "trace/pickle/pickle_machine.hpp"
#include "trace/pickle/pickle_text.hpp"

namespace memreplay {
namespace {

bool stands_at(const unsigned char* p, PickleOp op) { return *p == static_cast<unsigned char>(op); }

/// The byte after a number; null where there is none.
inline const unsigned char* number(const unsigned char* p, PickleValue& value) {
  switch (static_cast<PickleOp>(*p)) {
    case PickleOp::long1:
      if (p[1] == 0 || p[1] > 8) return nullptr;
      value = short_long(p + 2, p[1]);
      return p + 2 + p[1];
    case PickleOp::binint1:
      value = whole(p[1]);
      return p + 2;
    case PickleOp::binint2:
      value = whole(little<std::uint16_t>(p + 1));
      return p + 3;
    case PickleOp::binint:
      value = whole(little<std::int32_t>(p + 1));
      return p + 5;
    default:
      return nullptr;
  }
}

}  // namespace

/// Reads a trace entry as nearly all files have them without the stack: keys by reference, plain
/// values, a stack that is known. All its functions return the byte after what they read, null
/// where something else stands there.
class PickleMachine::EntryAhead {
 public:
  explicit EntryAhead(PickleMachine& machine) : machine_(machine) {}

  const Byte* read(const Byte* p);

 private:
  // Two references, a text of 255 bytes, MEMOIZE.
  static constexpr std::ptrdiff_t kLongestField = 2 * 5 + 2 + 255 + 1;

  bool fits(const Byte* p) const { return machine_.end_ - p >= kLongestField; }
  const Byte* key(const Byte* p, std::size_t place, Word& word);
  const Byte* recalled(const Byte* p, PickleValue& value) const;
  const Byte* value(const Byte* p, PickleValue& value);
  const Byte* frames(const Byte* p);
  const Byte* memoize(const Byte* p, const PickleValue& value);

  PickleMachine& machine_;
  PickleEntry made_;
};

const unsigned char* PickleMachine::EntryAhead::read(const Byte* p) {
  if (!fits(p) || !(p = memoize(p, {})) || !stands_at(p++, PickleOp::mark)) return nullptr;
  for (std::size_t place = 0; fits(p); ++place) {
    if (stands_at(p, PickleOp::setitems)) {
      return machine_.store_.add_entry(made_) ? p + 1 : nullptr;
    }
    Word word = Word::none;
    if (!(p = key(p, place, word)) || (place == 0) != (word == Word::action)) return nullptr;
    if (stands_at(p, PickleOp::empty_list)) {
      if (word != Word::frames || !(p = frames(p + 1))) return nullptr;
      continue;
    }
    PickleValue content;
    if (!(p = value(p, content)) || !machine_.store_.set_field(made_, word, content)) {
      return nullptr;
    }
  }
  return nullptr;
}

/// Mostly what the entry before had at this place.
inline const unsigned char* PickleMachine::EntryAhead::key(const Byte* p, std::size_t place,
                                                           Word& word) {
  if (place >= machine_.entry_keys_.size()) return nullptr;
  EntryKey& known = machine_.entry_keys_[place];
  const std::uint64_t bytes = little<std::uint64_t>(p);
  if ((bytes & known.mask) == known.bytes) [[likely]] {
    word = known.word;
    return p + known.length;
  }
  PickleValue found;
  const Byte* const behind = recalled(p, found);
  if (behind == nullptr || found.word == Word::none) return nullptr;
  word = found.word;
  const auto length = static_cast<std::uint32_t>(behind - p);
  const std::uint64_t mask = (std::uint64_t{1} << (8 * length)) - 1;
  known = {bytes & mask, mask, length, word};
  return behind;
}

inline const unsigned char* PickleMachine::EntryAhead::recalled(const Byte* p,
                                                                PickleValue& value) const {
  const bool wide = stands_at(p, PickleOp::long_binget);
  if (!wide && !stands_at(p, PickleOp::binget)) return nullptr;
  const std::uint32_t place = wide ? little<std::uint32_t>(p + 1) : p[1];
  if (place >= machine_.memo_.size()) return nullptr;
  value = machine_.memo_[place];
  return value.tag == PickleTag::unset ? nullptr : p + (wide ? 5 : 2);
}

inline const unsigned char* PickleMachine::EntryAhead::value(const Byte* p, PickleValue& value) {
  if (const Byte* const behind = number(p, value)) {
    PickleValue second;
    const Byte* const tuple = number(behind, second);
    if (tuple == nullptr) return behind;
    if (!stands_at(tuple, PickleOp::tuple2)) return nullptr;
    const PickleValue both[2] = {value, second};
    value = machine_.store_.make_tuple(both);
    return memoize(tuple + 1, value);
  }
  if (!stands_at(p, PickleOp::short_binunicode)) return recalled(p, value);
  value = machine_.text_value({reinterpret_cast<const char*>(p + 2), p[1]});
  return memoize(p + 2 + p[1], value);
}

/// A list of frames, after its EMPTY_LIST: with none, or with the bytes of one that is known.
const unsigned char* PickleMachine::EntryAhead::frames(const Byte* p) {
  const std::size_t place = machine_.memo_.size();
  p = memoize(p, {.tag = PickleTag::stack});
  made_.keys |= bit_of(Word::frames);
  made_.entry.stack = 0;
  if (p == nullptr || !stands_at(p, PickleOp::mark)) return p;
  const auto* known = machine_.runs_.find(p + 1, static_cast<std::size_t>(machine_.end_ - p - 1));
  if (known == nullptr) return nullptr;
  machine_.memo_[place].index = made_.entry.stack = known->stack;
  return p + 1 + known->length;
}

inline const unsigned char* PickleMachine::EntryAhead::memoize(const Byte* p,
                                                               const PickleValue& value) {
  if (!stands_at(p, PickleOp::memoize)) return nullptr;
  machine_.memo_.push_back(value);
  return p + 1;
}

const unsigned char* PickleMachine::skip_entry(const Byte* p) {
  const std::size_t number = memo_.size();
  if (!store_.converts_early || memo_used_ != number) return p;
  const Byte* const behind = EntryAhead(*this).read(p);
  if (behind == nullptr) {
    memo_.resize(number);
    return p;
  }
  const PickleValue entry{.tag = PickleTag::entry,
                          .index = static_cast<std::uint32_t>(store_.entries.size() - 1)};
  memo_[number] = entry;
  memo_used_ = memo_.size();
  push(entry);
  return behind;
}

}  // namespace memreplay
