#include "trace/pickle/pickle_writer.hpp"

#include <bit>

#include "core/text.hpp"
#include "trace/value_writer.hpp"

namespace memreplay {
namespace {

// As Python's pickler has them.
constexpr std::size_t kFrameBytes = std::size_t{64} << 10;
constexpr std::uint32_t kBatch = 1000;
constexpr std::size_t kLeastFrame = 4;

}  // namespace

PickleWriter::PickleWriter(std::ostream& out, NoUtf8 no_utf8) : out_(out), no_utf8_(no_utf8) {
  out_ << "\x80\x04";
}

void PickleWriter::scalar(const PlainScalar& value) {
  begin_item();
  std::visit(Overloaded{
                 [&](std::monostate) { put(PickleOp::none); },
                 [&](bool truth) { put(truth ? PickleOp::newtrue : PickleOp::newfalse); },
                 [&](std::int64_t whole) { put_whole(whole); },
                 [&](std::uint64_t whole) {
                   if (whole <= INT64_MAX) return put_whole(static_cast<std::int64_t>(whole));
                   put(PickleOp::long1);
                   put_number(9, 1);
                   put_number(whole, 8);
                   put_number(0, 1);
                 },
                 [&](const HugeNumber& number) { put_huge(number); },
                 [&](double real) { put_real(real); },
                 [&](std::string_view text) { put_text(text); },
                 [&](const ByteString& bytes) { put_bytes(bytes.bytes); },
             },
             value);
  end_item();
}

void PickleWriter::open(Container kind, std::optional<ObjectId> id) {
  begin_item();
  open_.push_back({kind, id});
  if (kind == Container::tuple) return put(PickleOp::mark);
  put(kind == Container::list ? PickleOp::empty_list : PickleOp::empty_dict);
  if (id) memoize(*id);
}

void PickleWriter::close() {
  const Open closed = open_.back();
  open_.pop_back();
  if (closed.kind == Container::tuple) {
    put(PickleOp::tuple);
    if (closed.id) memoize(*closed.id);
  } else if (closed.batch > 0) {
    end_batch(closed);
  }
  end_item();
}

bool PickleWriter::recall(ObjectId id) {
  const auto known = objects_.find(id);
  if (known == objects_.end()) return false;
  begin_item();
  get(known->second);
  end_item();
  return true;
}

void PickleWriter::finish() {
  put(PickleOp::stop);
  flush();
}

void PickleWriter::begin_item() {
  if (open_.empty()) return;
  Open& top = open_.back();
  if (top.kind != Container::tuple && top.batch == 0) put(PickleOp::mark);
}

void PickleWriter::end_item() {
  if (frame_.size() >= kFrameBytes) flush();
  if (open_.empty()) return;
  Open& top = open_.back();
  ++top.batch;
  if (top.kind == Container::tuple) return;
  if (top.batch == (top.kind == Container::list ? kBatch : 2 * kBatch)) {
    end_batch(top);
    top.batch = 0;
  }
}

void PickleWriter::end_batch(const Open& open) {
  put(open.kind == Container::list ? PickleOp::appends : PickleOp::setitems);
}

void PickleWriter::memoize(ObjectId id) {
  put(PickleOp::memoize);
  objects_.emplace(id, memo_used_++);
}

void PickleWriter::get(std::uint32_t memo) {
  const bool wide = memo > UINT8_MAX;
  put(wide ? PickleOp::long_binget : PickleOp::binget);
  put_number(memo, wide ? 4 : 1);
}

void PickleWriter::put_number(std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) frame_ += static_cast<char>(value >> (8 * i));
}

void PickleWriter::put_whole(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  if (value >= 0 && value <= UINT8_MAX) {
    put(PickleOp::binint1);
    put_number(bits, 1);
  } else if (value >= 0 && value <= UINT16_MAX) {
    put(PickleOp::binint2);
    put_number(bits, 2);
  } else if (value >= INT32_MIN && value <= INT32_MAX) {
    put(PickleOp::binint);
    put_number(bits, 4);
  } else {
    // One bit more than the magnitude, for the sign.
    const auto width = static_cast<unsigned>(std::bit_width(value < 0 ? ~bits : bits));
    const unsigned bytes = width / 8 + 1;
    put(PickleOp::long1);
    put_number(bytes, 1);
    put_number(bits, bytes);
  }
}

void PickleWriter::put_huge(const HugeNumber& number) {
  if (number.decimal) {
    put(PickleOp::long_text);
    frame_.append(number.text) += "L\n";
    return;
  }
  const bool wide = number.text.size() > UINT8_MAX;
  put(wide ? PickleOp::long4 : PickleOp::long1);
  put_number(number.text.size(), wide ? 4 : 1);
  frame_ += number.text;
}

void PickleWriter::put_real(double value) {
  put(PickleOp::binfloat);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (unsigned i = 8; i-- > 0;) frame_ += static_cast<char>(bits >> (8 * i));
}

void PickleWriter::put_text(std::string_view text) {
  if (const auto known = texts_.find(text); known != texts_.end()) return get(known->second);
  const bool plain = is_utf8(text, true);
  if (!plain && no_utf8_ == NoUtf8::replaced) {
    ++replaced_texts_;
    return put_text(as_utf8(text));
  }
  // What Python 2 wrote in some other encoding can only be written as it did.
  if (!plain) {
    put(PickleOp::binstring);
    put_number(text.size(), 4);
  } else if (text.size() <= UINT8_MAX) {
    put(PickleOp::short_binunicode);
    put_number(text.size(), 1);
  } else {
    put(PickleOp::binunicode);
    put_number(text.size(), 4);
  }
  frame_ += text;
  put(PickleOp::memoize);
  texts_.emplace(text, memo_used_++);
}

void PickleWriter::put_bytes(std::string_view bytes) {
  const bool wide = bytes.size() > UINT8_MAX;
  put(wide ? PickleOp::binbytes : PickleOp::short_binbytes);
  put_number(bytes.size(), wide ? 4 : 1);
  frame_ += bytes;
}

void PickleWriter::flush() {
  if (frame_.size() >= kLeastFrame) {
    char header[9] = {static_cast<char>(PickleOp::frame)};
    for (unsigned i = 0; i < 8; ++i) header[i + 1] = static_cast<char>(frame_.size() >> (8 * i));
    out_.write(header, sizeof header);
  }
  out_.write(frame_.data(), static_cast<std::streamsize>(frame_.size()));
  frame_.clear();
}

}  // namespace memreplay
