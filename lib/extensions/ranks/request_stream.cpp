#include "extensions/ranks/request_stream.hpp"

#include <zstd.h>

#include <algorithm>
#include <map>
#include <new>
#include <span>

#include "program/places.hpp"
#include "trace/mrt/mrt_bytes.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kBlock = 256;  ///< calls between two hashes, but for the first ones
constexpr int kZstdLevel = 3;

// What the hash with this number covers.
constexpr std::size_t calls_before(std::size_t hash) {
  return hash < kBlock ? hash + 1 : (hash - kBlock + 2) * kBlock;
}

/// Numbers by first use.
class Renumbered {
 public:
  explicit Renumbered(std::size_t count) : number_(count, kNone) {}
  /// 0 stays 0: the default pool.
  void keep_first() { number_.at(next_) = next_, ++next_; }
  std::uint16_t operator()(std::size_t index) {
    if (number_[index] == kNone) number_[index] = next_++;
    return number_[index];
  }

 private:
  static constexpr std::uint16_t kNone = UINT16_MAX;
  std::vector<std::uint16_t> number_;
  std::uint16_t next_ = 0;
};

class StreamMaker {
 public:
  explicit StreamMaker(const Trace& trace)
      : trace_(trace),
        streams_(trace.streams.size()),
        pools_(trace.pools.size()),
        request_of_(trace.slot_count) {
    if (!trace.pools.empty()) pools_.keep_first();
  }

  RequestStream make() {
    was_there();
    for (std::uint64_t event = 0; event < trace_.size(); ++event) take(event);
    stream_.end = trace_.size();
    return std::move(stream_);
  }

 private:
  void was_there() {
    Call call{.op = Op::marker};
    for (const SegmentInfo& segment : trace_.start.segments) {
      for (const BlockInfo& block : segment.blocks) {
        if (block.state == BlockState::free) continue;
        call.size += block.requested;
        ++call.number;
      }
    }
    if (call.number > 0) put(0, call);
  }

  void take(std::uint64_t event) {
    const Op op = trace_.ops[event];
    if (is_request(op)) {
      request(event);
    } else if (op == Op::free || op == Op::free_requested) {
      free(event);
    } else if (op == Op::empty_cache || op == Op::safe_frontier) {
      put(event, {.op = op, .size = trace_.sizes[event]});
    }
  }

  void request(std::uint64_t event) {
    Call call = placed(event, trace_.ops[event]);
    call.align_log2 = trace_.align_log2[event];
    if (!trace_.freed_before.empty()) call.number = trace_.freed_before[event];
    if (!trace_.upper_end.empty()) call.upper_end = trace_.upper_end[event];
    ++requests_;
    if (trace_.slots[event] != kNoSlot) request_of_.at(trace_.slots[event]) = requests_;
    put(event, call);
  }

  // When it completes is the device's doing, not the program's.
  void free(std::uint64_t event) {
    Call call = placed(event, Op::free);
    std::uint64_t& asked = request_of_.at(trace_.slots[event]);
    if (asked > 0) call.number = requests_ - asked + 1;
    put(event, call);
  }

  Call placed(std::uint64_t event, Op op) {
    const StreamPool lane = trace_.lane(event);
    return {.op = op,
            .stream = streams_(lane.stream),
            .pool = pools_(lane.pool),
            .size = trace_.sizes[event]};
  }

  void put(std::uint64_t event, const Call& call) {
    stream_.calls.push_back(call);
    stream_.events.push_back(event);
  }

  const Trace& trace_;
  RequestStream stream_;
  Renumbered streams_;
  Renumbered pools_;
  std::vector<std::uint64_t> request_of_;  ///< by slot, counted from 1; 0: before the recording
  std::uint64_t requests_ = 0;
};

void put_call(std::string& out, const Call& call) {
  out += {static_cast<char>(call.op), static_cast<char>(call.align_log2),
          static_cast<char>(call.upper_end)};
  for (const std::uint64_t number :
       {std::uint64_t{call.stream}, std::uint64_t{call.pool}, call.size, call.number}) {
    put_number(out, number);
  }
}

std::uint16_t small_number(ByteCursor& in) {
  const std::uint64_t number = in.number();
  if (number > UINT16_MAX) throw MrtFault("a number beyond its type");
  return static_cast<std::uint16_t>(number);
}

Call take_call(ByteCursor& in) {
  const std::string_view head = in.bytes(3);
  if (static_cast<std::uint8_t>(head[0]) > static_cast<std::uint8_t>(Op::oom)) {
    throw MrtFault("an unknown operation");
  }
  Call call{.op = static_cast<Op>(head[0]),
            .align_log2 = static_cast<std::uint8_t>(head[1]),
            .upper_end = static_cast<std::uint8_t>(head[2])};
  call.stream = small_number(in);
  call.pool = small_number(in);
  call.size = in.number();
  call.number = in.number();
  return call;
}

std::string zipped(const std::string& bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), kZstdLevel);
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();
  out.resize(size);
  return out;
}

std::string unzipped(std::string_view bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{16} << 30;
  const std::uint64_t size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size > kMost) throw MrtFault("is of no known size");
  std::string out(size, '\0');
  if (ZSTD_decompress(out.data(), size, bytes.data(), bytes.size()) != size) {
    throw MrtFault("is damaged");
  }
  return out;
}

// Each of them takes a byte at least.
std::size_t take_count(ByteCursor& in) {
  const std::uint64_t count = in.number();
  if (count > in.left()) throw MrtFault("ends too early");
  return count;
}

}  // namespace

const std::string& RequestStream::place(std::size_t call) const {
  static const std::string kNone;
  return call < places.size() ? names.at(places[call]) : kNone;
}

RequestStream request_stream(const Trace& trace) { return StreamMaker(trace).make(); }

void name_places(const Recording& recording, const Trace& trace, RequestStream& stream) {
  if (!says_who_asked(trace)) return;
  const Places places(recording);
  std::map<std::uint32_t, std::uint32_t> number;  // by place of the recording
  stream.names = {""};
  stream.places.assign(stream.calls.size(), 0);
  for (std::size_t i = 0; i < stream.calls.size(); ++i) {
    if (!is_request(stream.calls[i].op)) continue;
    const Asker asker = asker_of(trace, stream.events[i]);
    if (!asker.known()) continue;
    const std::uint32_t place = places.of(asker);
    const auto next = static_cast<std::uint32_t>(stream.names.size());
    const auto [found, is_new] = number.try_emplace(place, next);
    if (is_new) stream.names.push_back(places.name(place));
    stream.places[i] = found->second;
  }
}

std::string packed(const RequestStream& stream) {
  std::string out;
  put_number(out, stream.end);
  put_number(out, stream.names.size());
  for (const std::string& name : stream.names) {
    put_number(out, name.size());
    out += name;
  }
  put_number(out, stream.calls.size());
  for (const Call& call : stream.calls) put_call(out, call);
  std::uint64_t before = 0;
  for (const std::uint64_t event : stream.events) {
    put_number(out, event - before);
    before = event;
  }
  for (const std::uint32_t place : stream.places) put_number(out, place);
  return zipped(out);
}

RequestStream unpacked(std::string_view bytes) {
  const std::string plain = unzipped(bytes);
  ByteCursor in(plain);
  RequestStream stream;
  stream.end = in.number();
  stream.names.resize(take_count(in));
  for (std::string& name : stream.names) name = in.bytes(in.number());
  stream.calls.resize(take_count(in));
  for (Call& call : stream.calls) call = take_call(in);
  std::uint64_t event = 0;
  for (std::size_t i = 0; i < stream.calls.size(); ++i) {
    stream.events.push_back(event += in.number());
  }
  for (std::size_t i = 0; !stream.names.empty() && i < stream.calls.size(); ++i) {
    const std::uint64_t place = in.number();
    if (place >= stream.names.size()) throw MrtFault("a place that there is not");
    stream.places.push_back(static_cast<std::uint32_t>(place));
  }
  return stream;
}

Beginnings::Beginnings(const RequestStream& stream) {
  std::string bytes;
  for (std::size_t i = 0; i < stream.calls.size(); ++i) {
    put_call(bytes, stream.calls[i]);
    if (calls_before(hashes_.size()) != i + 1) continue;
    whole_ = siphash(bytes, whole_);
    hashes_.push_back(whole_);
    bytes.clear();
  }
  whole_ = siphash(bytes, whole_);
}

std::size_t Beginnings::common(const Beginnings& other) const {
  // What is alike comes before all that is not.
  const std::span both(hashes_.data(), std::min(hashes_.size(), other.hashes_.size()));
  const auto parts = std::partition_point(both.begin(), both.end(), [&](const Hash128& hash) {
    return hash == other.hashes_[&hash - hashes_.data()];
  });
  const auto alike = static_cast<std::size_t>(parts - both.begin());
  return alike == 0 ? 0 : calls_before(alike - 1);
}

std::size_t first_difference(const RequestStream& a, const RequestStream& b, std::size_t from) {
  const std::size_t end = std::min(a.calls.size(), b.calls.size());
  std::size_t call = from;
  while (call < end && a.calls[call] == b.calls[call]) ++call;
  return call;
}

}  // namespace memreplay
