#include <zlib.h>

#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/text.hpp"
#include "report/formats/format.hpp"

namespace memreplay {
namespace {

/// The wire format of protocol buffers, of which numbers and messages are enough.
class WireMessage {
 public:
  void add(std::uint32_t field, std::uint64_t number) {
    if (number == 0) return;
    varint(field << 3);
    varint(number);
  }
  void add(std::uint32_t field, std::string_view bytes) {
    varint(field << 3 | 2);
    varint(bytes.size());
    bytes_ += bytes;
  }
  void add(std::uint32_t field, const WireMessage& message) { add(field, message.bytes_); }
  /// Adds a number of a packed field.
  void varint(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) bytes_ += static_cast<char>(number | 0x80);
    bytes_ += static_cast<char>(number);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// github.com/google/pprof/proto/profile.proto, with the values of Go's heap profiles.
class PprofProfile {
 public:
  std::string bytes(const std::vector<NamedProfile>& profiles) {
    text("");
    add_type("alloc_objects", "count");
    add_type("alloc_space", "bytes");
    add_type("inuse_objects", "count");
    add_type("inuse_space", "bytes");
    for (const NamedProfile& one : profiles) add(one);
    message_.add(kDefaultType, text("inuse_space"));
    for (const std::string_view string : in_order_) message_.add(kStrings, as_utf8(string));
    return message_.bytes();
  }

 private:
  enum Field : std::uint32_t {
    kTypes = 1,
    kSamples = 2,
    kLocations = 4,
    kFunctions = 5,
    kStrings = 6,
    kDefaultType = 14
  };

  void add_type(std::string_view type, std::string_view unit) {
    WireMessage message;
    message.add(1, text(type));
    message.add(2, text(unit));
    message_.add(kTypes, message);
  }

  void add(const NamedProfile& one) {
    std::vector<std::uint64_t> locations;
    for (const ProfiledFrame& frame : one.profile.frames) locations.push_back(location(frame));
    for (const ProfiledStack& stack : one.profile.stacks) {
      WireMessage ids;
      for (const std::uint32_t frame : stack.frames) ids.varint(locations[frame]);
      WireMessage values;
      for (const std::uint64_t value :
           {stack.requests, stack.requested, stack.live_blocks, stack.live}) {
        values.varint(value);
      }
      WireMessage sample;
      sample.add(1, ids);
      sample.add(2, values);
      if (!one.name.empty()) {
        WireMessage label;
        label.add(1, text("device"));
        label.add(2, text(one.name));
        sample.add(3, label);
      }
      message_.add(kSamples, sample);
    }
  }

  std::uint64_t location(const ProfiledFrame& frame) {
    const std::uint64_t function = function_of(frame);
    WireMessage line;
    line.add(1, function);
    line.add(2, frame.line);
    WireMessage location;
    location.add(1, ++locations_);
    location.add(4, line);
    message_.add(kLocations, location);
    return locations_;
  }

  std::uint64_t function_of(const ProfiledFrame& frame) {
    const auto [at, is_new] =
        functions_.emplace(std::pair(frame.function, frame.file), functions_.size() + 1);
    if (is_new) {
      WireMessage function;
      function.add(1, at->second);
      function.add(2, text(frame.function));
      function.add(4, text(frame.file));
      message_.add(kFunctions, function);
    }
    return at->second;
  }

  std::uint64_t text(std::string_view string) {
    const auto [at, is_new] = strings_.emplace(string, strings_.size());
    if (is_new) in_order_.push_back(at->first);
    return at->second;
  }

  WireMessage message_;
  std::map<std::string, std::uint64_t, std::less<>> strings_;
  std::vector<std::string_view> in_order_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> functions_;
  std::uint64_t locations_ = 0;
};

/// As gzip has it, without name and time.
std::string gzipped(const std::string& bytes) {
  constexpr int kGzipWindow = 15 + 16;
  constexpr int kUsualMemory = 8;
  z_stream stream{};
  const int begun = deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow,
                                 kUsualMemory, Z_DEFAULT_STRATEGY);
  if (begun == Z_MEM_ERROR) throw std::bad_alloc();
  if (begun != Z_OK) throw std::runtime_error("zlib refuses to compress");
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error("zlib refuses to compress");
  return out;
}

}  // namespace

ReportFormat pprof_format() {
  return {.option = "--pprof",
          .sentence = "Live and requested bytes by stack, for go tool pprof.",
          .needs = ReportFormat::Needs::stacks,
          .write = [](const ReportParts& parts) {
            return gzipped(PprofProfile().bytes(parts.stacks()));
          }};
}

}  // namespace memreplay
