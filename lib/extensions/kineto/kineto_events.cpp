#include "extensions/kineto/kineto_events.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>

#include "core/error.hpp"
#include "core/text.hpp"
#include "trace/gate.hpp"
#include "trace/json/json_node.hpp"
#include "trace/pages.hpp"

namespace memreplay {
namespace {

using KinetoTree = nlohmann::json;

/// Walks the bytes of a file, and lets see where it is.
class WatchedByte {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  WatchedByte(const char* at, const char*& watch) : at_(at), watch_(&watch) {}
  reference operator*() const { return *at_; }
  WatchedByte& operator++() {
    *watch_ = ++at_;
    return *this;
  }
  WatchedByte operator++(int) {
    const WatchedByte before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const WatchedByte& a, const WatchedByte& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  const char** watch_;
};

/// A number as it is written, also between quotes.
struct KinetoNumber {
  enum class Kind : std::uint8_t { none, whole, negative, real, other };
  Kind kind = Kind::none;
  std::uint64_t magnitude = 0;
  double real = 0;

  static KinetoNumber of(std::uint64_t value) {
    return {Kind::whole, value, static_cast<double>(value)};
  }
  static KinetoNumber of(std::int64_t value) {
    if (value >= 0) return of(static_cast<std::uint64_t>(value));
    return {Kind::negative, 0 - static_cast<std::uint64_t>(value), static_cast<double>(value)};
  }
  static KinetoNumber of(double value) { return {Kind::real, 0, value}; }
  static KinetoNumber of(std::string_view text) {
    if (const auto whole = parse_whole(text)) return of(*whole);
    if (text.starts_with('-')) {
      if (const auto whole = parse_whole(text.substr(1))) {
        return {Kind::negative, *whole, -static_cast<double>(*whole)};
      }
    }
    double value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = error == std::errc{} && stop == text.data() + text.size();
    return is_number ? of(value) : KinetoNumber{.kind = Kind::other};
  }
};

enum KinetoKey : std::size_t {
  kAddr,
  kBytesKey,
  kDeviceType,
  kDeviceId,
  kTotalAllocated,
  kTotalReserved,
  kEvIdx,
  kTs,
  kPid,
  kTid,
  kKinetoKeys
};
constexpr std::array<std::string_view, kKinetoKeys> kKeyNames = {
    "Addr",           "Bytes",  "Device Type", "Device Id", "Total Allocated",
    "Total Reserved", "Ev Idx", "ts",          "pid",       "tid"};

/// Takes the parts of the document as nlohmann's parser meets them, and looks into the objects of
/// its "traceEvents" alone.
class KinetoParts final : public nlohmann::json_sax<KinetoTree> {
 public:
  KinetoParts(const Input& input, const std::function<void(const KinetoEvent&)>& use)
      : input_(input), behind_(input), use_(use) {}

  void parse() {
    const char* const begin = input_.bytes.data();
    at_ = begin;
    if (is_event_list(input_.bytes)) {  // as if it stood in a document
      depth_ = kOfDocument;
      is_events_key_ = true;
    }
    KinetoTree::sax_parse(WatchedByte(begin, at_), WatchedByte(begin + input_.bytes.size(), at_),
                          this);
  }

  bool null() override { return number({.kind = KinetoNumber::Kind::other}); }
  bool boolean(bool) override { return null(); }
  bool number_integer(number_integer_t value) override { return number(KinetoNumber::of(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(KinetoNumber::of(value)); }
  bool number_float(number_float_t value, const string_t&) override {
    return number(KinetoNumber::of(value));
  }
  bool string(string_t& text) override;
  bool binary(binary_t&) override { return false; }  // never in a text

  bool start_object(std::size_t) override {
    if (++depth_ == kOfEvent && in_events_) begin_event();
    return true;
  }
  bool end_object() override {
    if (depth_ == kOfEvent && in_events_) end_event();
    --depth_;
    behind_.passed(at_);
    return true;
  }
  bool start_array(std::size_t) override {
    if (++depth_ == kOfEvents) in_events_ = is_events_key_;
    return true;
  }
  bool end_array() override {
    if (depth_-- == kOfEvents) in_events_ = false;
    return true;
  }
  bool key(string_t& text) override;

  bool parse_error(std::size_t byte, const std::string&,
                   const nlohmann::detail::exception& error) override {
    refuse_json(input_, byte, error.id);
  }

 private:
  // Open brackets, of the document on.
  static constexpr int kOfDocument = 1, kOfEvents = 2, kOfEvent = 3, kOfArguments = 4;

  bool number(const KinetoNumber& value) {
    if (wanted_ != nullptr && (depth_ == kOfEvent || depth_ == kOfArguments)) *wanted_ = value;
    return true;
  }
  void begin_event();
  void end_event();
  KinetoEvent event() const;
  std::int64_t bytes() const;
  std::int16_t device() const;
  std::optional<std::uint64_t> whole(KinetoKey key) const;
  [[noreturn]] void bad(KinetoKey key, std::string_view expected) const;

  const Input& input_;
  PagesBehind behind_;
  const std::function<void(const KinetoEvent&)>& use_;
  const char* at_ = nullptr;
  int depth_ = 0;
  bool is_events_key_ = false;
  bool in_events_ = false;

  // The event that is being read.
  std::string name_;
  bool is_arguments_ = false;
  std::string* text_ = nullptr;     ///< where the next text goes
  KinetoNumber* wanted_ = nullptr;  ///< where the next number goes
  std::string phase_;
  std::array<KinetoNumber, kKinetoKeys> numbers_;
};

bool KinetoParts::key(string_t& text) {
  if (depth_ == kOfDocument) is_events_key_ = text == "traceEvents";
  if (!in_events_ || (depth_ != kOfEvent && depth_ != kOfArguments)) return true;
  text_ = nullptr;
  wanted_ = nullptr;
  if (depth_ == kOfEvent) {
    is_arguments_ = text == "args";
    if (text == "name") text_ = &name_;
    if (text == "ph") text_ = &phase_;
    if (text == "ts") wanted_ = &numbers_[kTs];
    if (text == "pid") wanted_ = &numbers_[kPid];
    if (text == "tid") wanted_ = &numbers_[kTid];
    return true;
  }
  for (std::size_t i = 0; is_arguments_ && i < kTs; ++i) {
    if (text == kKeyNames[i]) wanted_ = &numbers_[i];
  }
  return true;
}

bool KinetoParts::string(string_t& text) {
  if (text_ != nullptr && depth_ == kOfEvent) text_->assign(text);
  return wanted_ == nullptr || number(KinetoNumber::of(std::string_view(text)));
}

void KinetoParts::begin_event() {
  name_.clear();
  phase_.clear();
  numbers_.fill({});
  text_ = nullptr;
  wanted_ = nullptr;
  is_arguments_ = false;
}

void KinetoParts::end_event() {
  if (phase_ != "i" && phase_ != "I") return;
  if (name_ == "[memory]" || name_ == "[OutOfMemory]") use_(event());
}

void KinetoParts::bad(KinetoKey key, std::string_view expected) const {
  throw InputError(
      input_.name, fmt::format("byte {}", human_count(std::uint64_t(at_ - input_.bytes.data()))),
      fmt::format("{} of the {} event before it is {}; expected {}", kKeyNames[key], name_,
                  numbers_[key].kind == KinetoNumber::Kind::none ? "missing" : "of another kind",
                  expected));
}

std::optional<std::uint64_t> KinetoParts::whole(KinetoKey key) const {
  const KinetoNumber& number = numbers_[key];
  if (number.kind == KinetoNumber::Kind::none) return std::nullopt;
  if (number.kind != KinetoNumber::Kind::whole) bad(key, "a whole number of 64 bits");
  return number.magnitude;
}

std::int64_t KinetoParts::bytes() const {
  const KinetoNumber& number = numbers_[kBytesKey];
  const bool is_whole =
      number.kind == KinetoNumber::Kind::whole || number.kind == KinetoNumber::Kind::negative;
  if (!is_whole || number.magnitude >= kMostBytes) {
    bad(kBytesKey, "a whole number below 1 EiB, of a free with a minus");
  }
  const auto magnitude = static_cast<std::int64_t>(number.magnitude);
  return number.kind == KinetoNumber::Kind::negative ? -magnitude : magnitude;
}

std::int16_t KinetoParts::device() const {
  if (whole(kDeviceType).value_or(0) == 0) return -1;
  if (numbers_[kDeviceId].kind == KinetoNumber::Kind::negative) return 0;
  const std::uint64_t device = whole(kDeviceId).value_or(0);
  if (device >= kMostDevices) bad(kDeviceId, "the number of a device");
  return static_cast<std::int16_t>(device);
}

KinetoEvent KinetoParts::event() const {
  const KinetoNumber& time = numbers_[kTs];
  if (time.kind == KinetoNumber::Kind::none || time.kind == KinetoNumber::Kind::other ||
      !(std::abs(time.real) <= static_cast<double>(kMostTime))) {
    bad(kTs, "microseconds");
  }
  const KinetoNumber& process = numbers_[kPid];
  const KinetoNumber& thread = numbers_[kTid];
  const bool has_thread =
      thread.kind == KinetoNumber::Kind::whole && thread.magnitude <= UINT32_MAX;
  return {.time_us = time.real,
          .index = whole(kEvIdx).value_or(UINT64_MAX),
          .byte = static_cast<std::uint64_t>(at_ - input_.bytes.data()),
          .bytes = bytes(),
          .address = whole(kAddr),
          .allocated = whole(kTotalAllocated),
          .reserved = whole(kTotalReserved),
          .process = process.kind == KinetoNumber::Kind::whole ? process.magnitude : 0,
          .thread = has_thread ? static_cast<std::uint32_t>(thread.magnitude) : 0,
          .device = device(),
          .is_refused = name_ == "[OutOfMemory]"};
}

}  // namespace

bool is_event_list(std::string_view text) {
  const std::size_t first = text.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  return first != text.npos && text[first] == '[';
}

void for_each_kineto_event(const Input& input, const std::function<void(const KinetoEvent&)>& use) {
  KinetoParts(input, use).parse();
}

}  // namespace memreplay
