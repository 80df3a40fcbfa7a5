#include "trace/pickle/pickle_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/error.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "trace/decompress.hpp"
#include "trace/pages.hpp"
#include "trace/pickle/pickle_text.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kMostMarks = 1000;  // a snapshot nests six deep
constexpr auto kBinget = static_cast<unsigned char>(PickleOp::binget);
constexpr auto kLongBinget = static_cast<unsigned char>(PickleOp::long_binget);

PickleValue long_value(const unsigned char* p, std::uint64_t length) {
  const PickleValue huge{.tag = PickleTag::huge,
                         .index = static_cast<std::uint32_t>(length),
                         .bits = reinterpret_cast<std::uintptr_t>(p)};
  const bool negative = length > 0 && (p[length - 1] & 0x80) != 0;
  std::uint64_t bits = negative ? ~std::uint64_t{0} : 0;
  std::memcpy(&bits, p, std::min<std::uint64_t>(length, sizeof bits));
  const unsigned char sign = negative ? 0xFF : 0;
  for (std::uint64_t i = sizeof bits; i < length; ++i) {
    if (p[i] != sign) return huge;
  }
  const bool high = (bits >> 63) != 0;
  if (negative && !high) return huge;
  return {.tag = high && !negative ? PickleTag::whole_above_2_63 : PickleTag::whole, .bits = bits};
}

}  // namespace

PickleMachine::PickleMachine(const Input& input, PickleStore& store)
    : name_(input.name),
      begin_(reinterpret_cast<const Byte*>(input.bytes.data())),
      end_(input.arrival == nullptr ? begin_ + input.bytes.size() : begin_),
      ready_(end_),
      size_(input.bytes.size()),
      arrival_(input.arrival),
      is_let_go_(input.arrival != nullptr),
      store_(store),
      stack_(4096),
      behind_(input),
      piece_(begin_) {}

PickleValue PickleMachine::run() {
  const Byte* p = begin_;
  const Byte* end = end_;
  const Byte* ready = ready_;
  // Copies that stay in registers.
  PickleValue* top = stack_.data();
  PickleValue* limit = top + stack_.size();
  const PickleValue* memo = memo_.data();
  std::size_t memo_size = 0;
  const auto save = [&] { top_ = static_cast<std::size_t>(top - stack_.data()); };
  const auto load = [&] {
    top = stack_.data() + top_;
    limit = stack_.data() + stack_.size();
    memo = memo_.data();
    memo_size = memo_.size();
  };
  const auto push_value = [&](const PickleValue& value) __attribute__((always_inline)) {
    if (top == limit) [[unlikely]] {
      save();
      grow_stack();
      load();
    }
    *top++ = value;
  };

  for (;;) {
    const Byte* const at = p;
    if (p >= ready) [[unlikely]] {
      if (!has_opcode(p)) truncated(at);
      end = end_;
      ready = ready_;
    }
    const auto need = [&](std::ptrdiff_t count) {
      if (end - p < count) [[unlikely]]
        truncated(at);
    };
    switch (static_cast<PickleOp>(*p++)) {
      case PickleOp::binget:
      case PickleOp::long_binget: {
        // Most of a large snapshot is runs of these two. Which of them comes next is chance, so the
        // loop does not branch on it.
        const Byte* op = at;
        while (end - op >= 5 && (*op == kBinget || *op == kLongBinget)) {
          const std::uint32_t wide = little<std::uint32_t>(op + 1);
          const bool is_wide = *op == kLongBinget;
          const std::uint32_t number = is_wide ? wide : wide & 0xFF;
          if (number >= memo_size || memo[number].tag == PickleTag::unset) [[unlikely]] {
            bad_memo(op, number);
          }
          push_value(memo[number]);
          op += is_wide ? 5 : 2;
        }
        if (op != at) {
          p = op;
          if (at == run_begin_) run_end_ = op;
          break;
        }
        // Too few bytes are left for a LONG_BINGET.
        need(*at == kLongBinget ? 4 : 1);
        if (at[1] >= memo_size || memo[at[1]].tag == PickleTag::unset) bad_memo(at, at[1]);
        push_value(memo[at[1]]);
        p = at + 2;
        break;
      }
      case PickleOp::long1: {
        need(1);
        const std::uint64_t length = *p++;
        need(static_cast<std::ptrdiff_t>(length));
        if (length > 0 && length <= 8 && end - p >= 8) {
          push_value(short_long(p, length));
        } else {
          push_value(long_at(p, length));
        }
        p += length;
        break;
      }
      case PickleOp::binint1:
        need(1);
        push_value(whole(*p));
        p += 1;
        break;
      case PickleOp::binint2:
        need(2);
        push_value(whole(little<std::uint16_t>(p)));
        p += 2;
        break;
      case PickleOp::binint:
        need(4);
        push_value(whole(little<std::int32_t>(p)));
        p += 4;
        break;
      case PickleOp::memoize:
        if (top - stack_.data() <= static_cast<std::ptrdiff_t>(floor_)) underflow(at);
        if (memo_used_ == memo_.size()) [[likely]] {
          memo_.push_back(top[-1]);
          ++memo_used_;
        } else {
          save();
          put(at, memo_used_);
        }
        memo = memo_.data();
        memo_size = memo_.size();
        break;
      case PickleOp::mark:
        if (marks_.size() == kMostMarks) {
          fail(at, fmt::format("nested more than {} deep; a snapshot is not", kMostMarks));
        }
        save();
        if (const Byte* const after = skip_known_stack(p); after != p) {
          p = after;
          break;
        }
        floor_ = top_;
        marks_.push_back(top_);
        break;
      case PickleOp::empty_dict:
        save();
        if (const Byte* const after = skip_entry(p); after != p) {
          p = after;
          if (behind_.passed(reinterpret_cast<const char*>(p))) make_room(p);
        } else {
          push(new_object(PickleTag::dict));
        }
        load();
        break;
      case PickleOp::empty_list:
        push_value(new_object(PickleTag::list));
        break;
      case PickleOp::setitems:
        save();
        set_items(at, pop_mark(at));
        if (behind_.passed(reinterpret_cast<const char*>(p))) make_room(p);
        load();
        break;
      case PickleOp::appends:
        save();
        append(at, pop_mark(at));
        load();
        break;
      case PickleOp::short_binunicode: {
        need(1);
        const std::size_t length = *p++;
        need(static_cast<std::ptrdiff_t>(length));
        push_value(text_value({reinterpret_cast<const char*>(p), length}));
        p += length;
        break;
      }
      case PickleOp::stop:
        save();
        if (top_ != 1 || !marks_.empty()) {
          fail(at, "STOP with other than one value; the file is damaged");
        }
        return stack_[0];
      default:
        save();
        p = rare(at, p);
        load();
    }
  }
}

bool PickleMachine::has_opcode(const Byte* p) {
  // More than what is read of most opcodes: of others all is read again.
  constexpr std::size_t kFurther = 256 * kKiB;
  if (arrival_ == nullptr) return p != end_;
  const std::size_t arrived =
      arrival_->wait_beyond(static_cast<std::size_t>(p - begin_) + kFurther);
  end_ = begin_ + arrived;
  if (arrived == size_) arrival_ = nullptr;
  ready_ = arrival_ == nullptr ? end_ : end_ - kFurther;
  return p != end_;
}

PickleValue PickleMachine::new_object(PickleTag tag) {
  const auto number = static_cast<std::uint32_t>(store_.objects.size());
  store_.objects.emplace_back();
  return {.tag = tag, .index = number};
}

PickleValue PickleMachine::value_of(std::string_view text) {
  return {.tag = PickleTag::text,
          .word = word_of(text),
          .index = static_cast<std::uint32_t>(text.size()),
          .bits = reinterpret_cast<std::uintptr_t>(text.data())};
}

PickleValue PickleMachine::long_at(const Byte* p, std::uint64_t length) {
  PickleValue value = long_value(p, length);
  if (value.tag == PickleTag::huge && is_let_go_) {
    value.bits = reinterpret_cast<std::uintptr_t>(store_.keep(value.text()).data());
  }
  return value;
}

PickleValue PickleMachine::counted(const Byte* at, const Byte*& p, unsigned length_bytes,
                                   PickleTag tag) {
  if (end_ - p < static_cast<std::ptrdiff_t>(length_bytes)) truncated(at);
  std::uint64_t length = 0;
  std::memcpy(&length, p, length_bytes);
  p += length_bytes;
  if (length > static_cast<std::uint64_t>(end_ - p) || length > UINT32_MAX) too_long(at, length, p);
  const Byte* const data = p;
  p += length;
  if (tag == PickleTag::whole) return long_at(data, length);
  PickleValue value =
      text_value({reinterpret_cast<const char*>(data), static_cast<std::size_t>(length)});
  if (tag != PickleTag::text) value.word = Word::none;
  value.tag = tag;
  return value;
}

std::size_t PickleMachine::pop_mark(const Byte* at) {
  if (marks_.empty()) fail(at, "no MARK before this opcode; the file is damaged");
  const std::size_t height = marks_.back();
  marks_.pop_back();
  floor_ = marks_.empty() ? 0 : marks_.back();
  return height;
}

void PickleMachine::set_items(const Byte* at, std::size_t height) {
  if (height <= floor_) underflow(at);
  const PickleValue& target = stack_[height - 1];
  const auto items = above(height);
  if (target.tag == PickleTag::entry) throw NeedsPlainValues{};
  if (target.tag != PickleTag::dict || items.size() % 2 != 0) {
    fail(at, "items for something that is no dict; the file is damaged");
  }
  if (!items.empty()) store_.set_items(target.index, items);
  top_ = height;
}

void PickleMachine::append(const Byte* at, std::size_t height) {
  if (height <= floor_) underflow(at);
  const PickleValue& target = stack_[height - 1];
  if (target.tag == PickleTag::stack) throw NeedsPlainValues{};
  if (target.tag != PickleTag::list) {
    fail(at, "items for something that is no list; the file is damaged");
  }
  if (top_ > height) store_.append(target.index, above(height));
  top_ = height;
  if (at == run_end_ && store_.objects[target.index].form == PickleObject::Form::stack) {
    runs_.add(run_begin_, static_cast<std::size_t>(at + 1 - run_begin_),
              store_.objects[target.index].at);
  }
}

const unsigned char* PickleMachine::skip_known_stack(const Byte* p) {
  run_begin_ = run_end_ = nullptr;
  if (p == end_ || (*p != kBinget && *p != kLongBinget) || top_ <= floor_) return p;
  const PickleValue& target = stack_[top_ - 1];
  if (target.tag != PickleTag::list) return p;
  PickleObject& list = store_.objects[target.index];
  if (list.form != PickleObject::Form::empty || list.in_use) return p;
  if (const auto* run = runs_.find(p, static_cast<std::size_t>(end_ - p))) {
    list.form = PickleObject::Form::stack;
    list.at = run->stack;
    return p + run->length;
  }
  run_begin_ = p;
  return p;
}

void PickleMachine::put(const Byte* at, std::uint64_t number) {
  if (top_ <= floor_) underflow(at);
  if (number > static_cast<std::uint64_t>(end_ - begin_)) {
    fail(at, fmt::format("memo {} in a file of {} bytes; the file is damaged", human_count(number),
                         human_count(static_cast<std::uint64_t>(end_ - begin_))));
  }
  if (number >= memo_.size()) memo_.resize(number + 1);
  if (memo_[number].tag == PickleTag::unset) {
    ++memo_used_;
  } else {
    runs_.forget();
    entry_keys_ = {};
  }
  memo_[number] = stack_[top_ - 1];
}

void PickleMachine::make_room(const Byte* p) {
  constexpr std::size_t kUsually = 32;  // bytes of the file for one of them, at least
  const auto left = static_cast<std::size_t>(begin_ + size_ - p);
  const double pieces = static_cast<double>(left) / static_cast<double>(p - piece_);
  const auto make = [&](auto& items, std::size_t& before) {
    const std::size_t count = items.size();
    const std::size_t further = count - std::min(before, count);
    const auto expected = count + static_cast<std::size_t>(static_cast<double>(further) * pieces);
    before = count;
    // Once the beginning, which differs from the rest, is read; again where the next may not fit.
    const bool now = expected > 2 * items.capacity() || count + 2 * further > items.capacity();
    if (left > size_ / 8 * 7 || expected <= items.capacity() || !now) return;
    reserve_at_most(items,
                    std::min(expected + expected / 8, std::max(2 * count, size_ / kUsually)));
  };
  make(memo_, memo_before_);
  make(store_.entries, entries_before_);
  piece_ = p;
}

void PickleMachine::grow_stack() { stack_.resize(stack_.size() * 2); }

int pickle_protocol(std::string_view bytes) {
  if (bytes.size() >= 2 && static_cast<unsigned char>(bytes[0]) == 0x80) {
    return static_cast<unsigned char>(bytes[1]);
  }
  return !bytes.empty() && bytes[0] == '(' ? 0 : 1;
}

}  // namespace memreplay
