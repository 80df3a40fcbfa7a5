#include "extensions/tensorflow/xspace_events.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <unordered_map>
#include <utility>

#include "extensions/heaps/proto_fields.hpp"

namespace memreplay {
namespace {

using Names = std::unordered_map<std::uint64_t, std::string_view>;
using BytesOfEvent = Bytes XSpaceEvent::*;
using TextOfEvent = std::string_view XSpaceEvent::*;

constexpr std::pair<std::string_view, BytesOfEvent> kNumbers[] = {
    {"addr", &XSpaceEvent::address},
    {"requested_bytes", &XSpaceEvent::requested},
    {"allocation_bytes", &XSpaceEvent::allocated},
    {"bytes_allocated", &XSpaceEvent::in_use},
    {"bytes_available", &XSpaceEvent::available},
    {"data_type", &XSpaceEvent::data_type},
    {"peak_bytes_in_use", &XSpaceEvent::process_peak}};
constexpr std::pair<std::string_view, TextOfEvent> kTexts[] = {
    {"allocator_name", &XSpaceEvent::allocator},
    {"tf_op", &XSpaceEvent::op},
    {"shape", &XSpaceEvent::shape},
    {"region_type", &XSpaceEvent::use}};

/// One plane: its lines, which are threads, refer to names that may stand behind them.
class XPlane {
 public:
  XPlane(const Input& input, std::string_view bytes) : input_(input) {
    constexpr std::uint64_t kLine = 3, kEventName = 4, kStatName = 5;
    for_each_field(input, bytes, [&](const ProtoField& field) {
      if (field.wire != kLengthGiven) return;
      if (field.number == kLine) lines_.push_back(field.bytes);
      if (field.number == kEventName) add_name(field.bytes, event_names_);
      if (field.number == kStatName) add_name(field.bytes, stat_names_);
    });
  }

  void read(std::uint32_t& threads, std::vector<XSpaceEvent>& events) const {
    for (const std::string_view line : lines_) {
      const std::size_t before = events.size();
      read_line(line, events);
      if (events.size() == before) continue;
      ++threads;
      for (std::size_t i = before; i < events.size(); ++i) events[i].thread = threads;
    }
  }

 private:
  // An entry of a map: the number, and a message with number and name.
  void add_name(std::string_view entry, Names& names) const {
    std::uint64_t id = 0;
    std::string_view name;
    for_each_field(input_, entry, [&](const ProtoField& field) {
      if (field.number == 1) id = field.value;
      if (field.number != 2) return;
      for_each_field(input_, field.bytes, [&](const ProtoField& part) {
        if (part.number == 2) name = part.bytes;
      });
    });
    names[id] = name;
  }
  static std::string_view name_in(const Names& names, std::uint64_t id) {
    const auto name = names.find(id);
    return name == names.end() ? std::string_view() : name->second;
  }

  void read_line(std::string_view bytes, std::vector<XSpaceEvent>& events) const {
    constexpr std::uint64_t kStart = 3, kEvent = 4;
    const std::size_t before = events.size();
    std::int64_t start_ns = 0;
    for_each_field(input_, bytes, [&](const ProtoField& field) {
      if (field.number == kStart) start_ns = static_cast<std::int64_t>(field.value);
      if (field.number == kEvent) read_event(field.bytes, events);
    });
    for (std::size_t i = before; i < events.size(); ++i) {
      constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max();
      if (start_ns > 0 && events[i].ns > kLatest - start_ns) {
        ProtoMessage(input_, bytes).fail("has an event later than 2^63 nanoseconds");
      }
      events[i].ns += start_ns;
    }
  }

  void read_event(std::string_view bytes, std::vector<XSpaceEvent>& events) const {
    constexpr std::uint64_t kName = 1, kOffset = 2, kStat = 4;
    constexpr std::uint64_t kPicoseconds = 1000;  // in a nanosecond
    XSpaceEvent event;
    std::string_view name;
    for_each_field(input_, bytes, [&](const ProtoField& field) {
      if (field.number == kName) name = name_in(event_names_, field.value);
      if (field.number != kOffset) return;
      event.ns = static_cast<std::int64_t>(field.value / kPicoseconds);
      event.ps = static_cast<std::uint32_t>(field.value % kPicoseconds);
    });
    event.allocates = name == "MemoryAllocation";
    if (!event.allocates && name != "MemoryDeallocation") return;
    for_each_field(input_, bytes, [&](const ProtoField& field) {
      if (field.number == kStat) read_stat(field.bytes, event);
    });
    events.push_back(event);
  }

  // Its type changes with its value: a whole number may be a double, a text the number of one.
  void read_stat(std::string_view bytes, XSpaceEvent& event) const {
    constexpr std::uint64_t kName = 1, kDouble = 2, kUnsigned = 3, kSigned = 4, kText = 5,
                            kNumberOfText = 7;
    std::string_view name, text;
    Bytes number = 0;
    for_each_field(input_, bytes, [&](const ProtoField& field) {
      if (field.number == kName) name = name_in(stat_names_, field.value);
      if (field.number == kDouble) number = bytes_of(std::bit_cast<double>(field.value));
      if (field.number == kUnsigned || field.number == kSigned) number = field.value;
      if (field.number == kText) text = field.bytes;
      if (field.number == kNumberOfText) text = name_in(stat_names_, field.value);
    });
    for (const auto& [known, where] : kNumbers) {
      if (name == known) event.*where = number;
    }
    for (const auto& [known, where] : kTexts) {
      if (name == known) event.*where = text;
    }
  }

  const Input& input_;
  std::vector<std::string_view> lines_;
  Names event_names_, stat_names_;
};

}  // namespace

bool is_xspace(std::string_view bytes) {
  const auto plane = ProtoBeginning(bytes).take_bytes(1);
  if (!plane) return false;
  ProtoBeginning inside(*plane);
  inside.take_number(1);
  const auto name = inside.take_bytes(2);
  return name && (name->starts_with('/') || name->starts_with('#') || *name == "Task Environment");
}

std::vector<XSpaceEvent> xspace_events(const Input& input) {
  std::vector<XSpaceEvent> events;
  std::uint32_t threads = 0;
  for_each_field(input, input.bytes, [&](const ProtoField& field) {
    if (field.number != 1 || field.wire != kLengthGiven) return;
    XPlane(input, field.bytes).read(threads, events);
  });
  std::ranges::stable_sort(events, {}, [](const XSpaceEvent& e) { return std::pair(e.ns, e.ps); });
  return events;
}

}  // namespace memreplay
