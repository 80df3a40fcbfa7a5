// The opcodes that large snapshots hardly use, those that are refused, and the errors.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/error.hpp"
#include "core/text.hpp"
#include "trace/pickle/pickle_machine.hpp"
#include "trace/pickle/pickle_text.hpp"
#include "trace/snapshot/snapshot_checks.hpp"

namespace memreplay {
namespace {

double big_endian_double(const unsigned char* p) {
  std::uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) bits = bits << 8 | p[i];
  return std::bit_cast<double>(bits);
}

}  // namespace

void PickleMachine::fail(const Byte* at, const std::string& message) const {
  if (arrival_ != nullptr) throw NeedsAllBytes();
  throw InputError(name_, "byte " + human_count(static_cast<std::uint64_t>(at - begin_)), message);
}

void PickleMachine::truncated(const Byte* at) const {
  if (at == end_) fail(at, "the file ends before the opcode STOP: it is truncated");
  fail(at, fmt::format("the file ends inside opcode {}: it is truncated",
                       name_of(static_cast<PickleOp>(*at))));
}

void PickleMachine::underflow(const Byte* at) const {
  fail(at, fmt::format("opcode {} finds no value; the file is damaged",
                       name_of(static_cast<PickleOp>(*at))));
}

void PickleMachine::bad_memo(const Byte* at, std::uint64_t number) const {
  fail(at, fmt::format("memo {} was never stored; the file is damaged", human_count(number)));
}

void PickleMachine::too_long(const Byte* at, std::uint64_t length, const Byte* data) const {
  const auto left = static_cast<std::uint64_t>(end_ - data);
  if (length <= left) fail(at, "a text of 4 GiB or more; snapshots have none");
  fail(at,
       fmt::format("opcode {} claims {} bytes where {} are left: the file is truncated or damaged",
                   name_of(static_cast<PickleOp>(*at)), human_count(length), human_count(left)));
}

std::string PickleMachine::code_arguments(PickleOp op, const Byte* p) const {
  const auto next_line = [&] {
    const auto* stop = std::find(p, end_, Byte{'\n'});
    const std::string_view text(reinterpret_cast<const char*>(p),
                                static_cast<std::size_t>(stop - p));
    p = stop == end_ ? stop : stop + 1;
    return describe(text);
  };
  if (op == PickleOp::global || op == PickleOp::inst) {
    const std::string module = next_line();
    return fmt::format(" ({} {})", module, next_line());
  }
  if (op == PickleOp::persid) return fmt::format(" ({})", next_line());
  if (op == PickleOp::stack_global && top_ >= floor_ + 2) {
    const PickleValue &module = stack_[top_ - 2], &global = stack_[top_ - 1];
    if (module.tag == PickleTag::text && global.tag == PickleTag::text) {
      return fmt::format(" ({} {})", describe(module.text()), describe(global.text()));
    }
  }
  return {};
}

void PickleMachine::refuse_code(const Byte* at, const Byte* p) const {
  const auto op = static_cast<PickleOp>(*at);
  fail(at, fmt::format("opcode {}{}: this file wants to run code; refused", name_of(op),
                       code_arguments(op, p)));
}

std::string_view PickleMachine::line(const Byte* at, const Byte*& p) const {
  const auto* stop = static_cast<const Byte*>(
      p == end_ ? nullptr : std::memchr(p, '\n', static_cast<std::size_t>(end_ - p)));
  if (stop == nullptr) truncated(at);
  const std::string_view text(reinterpret_cast<const char*>(p), static_cast<std::size_t>(stop - p));
  if (text.size() > UINT32_MAX) too_long(at, text.size(), p);
  p = stop + 1;
  return text.ends_with('\r') ? text.substr(0, text.size() - 1) : text;
}

std::uint64_t PickleMachine::line_number(const Byte* at, const Byte*& p) const {
  const std::string_view text = line(at, p);
  const auto number = parse_whole(text);
  if (!number) fail(at, fmt::format("memo {}; expected a whole number", describe(text)));
  return *number;
}

PickleValue PickleMachine::keep_text(std::string text) {
  return value_of(store_.decoded.emplace_back(std::move(text)));
}

const unsigned char* PickleMachine::rare(const Byte* at, const Byte* p) {
  const auto op = static_cast<PickleOp>(*at);
  const auto need = [&](std::ptrdiff_t count) {
    if (end_ - p < count) truncated(at);
  };
  const auto operand = [&](unsigned bytes) {
    need(bytes);
    std::uint64_t value = 0;
    std::memcpy(&value, p, bytes);
    p += bytes;
    return value;
  };
  const auto recall = [&](std::uint64_t number) {
    if (number >= memo_.size() || memo_[number].tag == PickleTag::unset) bad_memo(at, number);
    push(PickleValue(memo_[number]));
  };
  const auto make_tuple = [&](std::size_t count) {
    if (top_ < floor_ + count) underflow(at);
    const PickleValue tuple = store_.make_tuple(above(top_ - count));
    top_ -= count;
    push(tuple);
  };
  const auto checked = [&](const std::optional<PickleValue>& value, std::string_view expected) {
    if (!value)
      fail(at, fmt::format("opcode {} without {}; the file is damaged", name_of(op), expected));
    push(*value);
  };
  switch (op) {
    case PickleOp::proto: {
      const auto version = operand(1);
      if (version > 5) fail(at, fmt::format("pickle protocol {}; expected 0 to 5", version));
      break;
    }
    case PickleOp::frame: {
      const std::uint64_t length = operand(8);
      if (length > static_cast<std::uint64_t>(end_ - p)) too_long(at, length, p);
      break;
    }
    case PickleOp::none:
      push({.tag = PickleTag::none});
      break;
    case PickleOp::newtrue:
      push({.tag = PickleTag::boolean, .bits = 1});
      break;
    case PickleOp::newfalse:
      push({.tag = PickleTag::boolean});
      break;
    case PickleOp::binfloat:
      need(8);
      push({.tag = PickleTag::real, .bits = std::bit_cast<std::uint64_t>(big_endian_double(p))});
      p += 8;
      break;
    case PickleOp::long4:
      push(counted(at, p, 4, PickleTag::whole));
      break;
    case PickleOp::short_binstring:
      push(counted(at, p, 1, PickleTag::text));
      break;
    case PickleOp::binstring:
    case PickleOp::binunicode:
      push(counted(at, p, 4, PickleTag::text));
      break;
    case PickleOp::binunicode8:
      push(counted(at, p, 8, PickleTag::text));
      break;
    case PickleOp::short_binbytes:
      push(counted(at, p, 1, PickleTag::bytes));
      break;
    case PickleOp::binbytes:
      push(counted(at, p, 4, PickleTag::bytes));
      break;
    case PickleOp::binbytes8:
    case PickleOp::bytearray8:
      push(counted(at, p, 8, PickleTag::bytes));
      break;
    case PickleOp::int_text:
      checked(pickle_int(line(at, p)), "a whole number");
      break;
    case PickleOp::long_text:
      checked(pickle_long(line(at, p)), "a whole number");
      break;
    case PickleOp::float_text:
      checked(pickle_float(line(at, p)), "a number");
      break;
    case PickleOp::unicode:
      push(keep_text(pickle_unicode(line(at, p))));
      break;
    case PickleOp::string: {
      auto text = pickle_string(line(at, p));
      if (!text) fail(at, "opcode STRING without quotes; the file is damaged");
      push(keep_text(std::move(*text)));
      break;
    }
    case PickleOp::empty_tuple:
      make_tuple(0);
      break;
    case PickleOp::tuple1:
      make_tuple(1);
      break;
    case PickleOp::tuple2:
      make_tuple(2);
      break;
    case PickleOp::tuple3:
      make_tuple(3);
      break;
    case PickleOp::tuple:
      make_tuple(top_ - pop_mark(at));
      break;
    case PickleOp::list:
    case PickleOp::dict: {
      const std::size_t height = pop_mark(at);
      const std::vector<PickleValue> items(stack_.begin() + static_cast<std::ptrdiff_t>(height),
                                           stack_.begin() + static_cast<std::ptrdiff_t>(top_));
      top_ = height;
      push(new_object(op == PickleOp::list ? PickleTag::list : PickleTag::dict));
      const std::size_t target = top_;
      for (const PickleValue& item : items) push(item);
      op == PickleOp::list ? append(at, target) : set_items(at, target);
      break;
    }
    case PickleOp::append:
      if (top_ < floor_ + 2) underflow(at);
      append(at, top_ - 1);
      break;
    case PickleOp::setitem:
      if (top_ < floor_ + 3) underflow(at);
      set_items(at, top_ - 2);
      break;
    case PickleOp::pop:
      if (!marks_.empty() && top_ == floor_)
        pop_mark(at);
      else
        pop(at);
      break;
    case PickleOp::pop_mark:
      top_ = pop_mark(at);
      break;
    case PickleOp::dup:
      if (top_ <= floor_) underflow(at);
      push(PickleValue(stack_[top_ - 1]));
      break;
    case PickleOp::put:
      put(at, line_number(at, p));
      break;
    case PickleOp::binput:
      put(at, operand(1));
      break;
    case PickleOp::long_binput:
      put(at, operand(4));
      break;
    case PickleOp::get:
      recall(line_number(at, p));
      break;
    case PickleOp::global:
    case PickleOp::stack_global:
    case PickleOp::reduce:
    case PickleOp::build:
    case PickleOp::inst:
    case PickleOp::obj:
    case PickleOp::newobj:
    case PickleOp::newobj_ex:
    case PickleOp::persid:
    case PickleOp::binpersid:
    case PickleOp::ext1:
    case PickleOp::ext2:
    case PickleOp::ext4:
      refuse_code(at, p);
    case PickleOp::empty_set:
    case PickleOp::additems:
    case PickleOp::frozenset:
    case PickleOp::next_buffer:
    case PickleOp::readonly_buffer:
      fail(at, fmt::format("opcode {}: a snapshot has no such values", name_of(op)));
    default:
      fail(at, fmt::format("0x{:02x} is no pickle opcode; the file is damaged", *at));
  }
  return p;
}

}  // namespace memreplay
