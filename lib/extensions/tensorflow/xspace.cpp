#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "extensions/heaps/live_heap.hpp"
#include "extensions/tensorflow/xspace_events.hpp"
#include "trace/device_name.hpp"
#include "trace/pointer_log.hpp"
#include "trace/reader.hpp"
#include "trace/text_numbers.hpp"

namespace memreplay {
namespace {

using Events = std::vector<XSpaceEvent>;

constexpr Bytes kGranule = 256;  // BFC's

/// "output float[64,256]": what is allocated, as far as the file says.
std::string tensor_of(const XSpaceEvent& event) {
  // DataType of TensorFlow's types.proto.
  constexpr std::string_view kTypes[] = {
      "",          "float",  "double",     "int32", "uint8",    "int16",   "int8",     "string",
      "complex64", "int64",  "bool",       "qint8", "quint8",   "qint32",  "bfloat16", "qint16",
      "quint16",   "uint16", "complex128", "half",  "resource", "variant", "uint32",   "uint64"};
  if (event.shape.empty()) return {};
  std::string text(event.use);
  if (!text.empty()) text += ' ';
  if (event.data_type < std::size(kTypes)) text += kTypes[event.data_type];
  return text += event.shape;
}

struct GrownRegion {
  std::size_t event = 0;  ///< that has it made, and gets its beginning
  Address address = 0;
  Bytes size = 0;
};

/// The regions of a BFC that begins empty, worked out from where it puts blocks: it has one made
/// only for a request that then gets its beginning, each twice as large as the one before where it
/// grows, else as large as the limit. None where the addresses contradict that.
std::vector<GrownRegion> regions_of(const Events& events, Bytes limit, bool grows) {
  constexpr Bytes kFirst = 2 * kMiB;
  if (limit >= kMostBytes) return {};
  std::vector<GrownRegion> regions;
  Bytes next = round_up(grows ? std::min(limit, kFirst) : limit, kGranule), pool = 0;
  const auto meets = [](const GrownRegion& region, Address from, Address to) {
    const Address begin = region.address / kGranule * kGranule;
    return from < begin + region.size && begin < to;
  };
  for (std::size_t i = 0; i < events.size(); ++i) {
    const XSpaceEvent& event = events[i];
    if (!event.allocates || event.requested == 0 || event.address == 0) continue;
    if (event.requested >= kMostBytes || event.allocated >= kMostBytes ||
        event.address >= kBeyondDevices) {
      return {};
    }
    const auto around = std::ranges::find_if(regions, [&](const GrownRegion& region) {
      return region.address <= event.address && event.address - region.address < region.size;
    });
    if (around != regions.end()) {
      if (event.allocated > around->size - (event.address - around->address)) return {};
      continue;
    }
    const Bytes wanted = round_up(event.requested, kGranule);
    const Bytes available = (limit - std::min(limit, pool)) / kGranule * kGranule;
    if (wanted > available) return {};
    bool raised = false;
    for (; next < wanted; next *= 2) raised = true;
    const GrownRegion region{i, event.address, std::min(next, available)};
    const Address begin = region.address / kGranule * kGranule;
    if (std::ranges::any_of(regions, [&](const GrownRegion& other) {
          return meets(other, begin, begin + region.size);
        })) {
      return {};
    }
    if (!raised && next < kBeyondDevices) next *= 2;
    pool += region.size;
    regions.push_back(region);
  }
  return regions;
}

/// The calls on one allocator, which become a trace.
class XSpaceAllocator {
 public:
  XSpaceAllocator(std::string_view path, std::string_view name) : path_(path), name_(name) {}

  std::string_view name() const { return name_; }
  void add(const XSpaceEvent& event) { events_.push_back(event); }

  /// To be called once, after all events. `texts` and `stacks` are those of `recording`.
  void finish(Recording& recording, TextNumbers& texts, LiveHeap& stacks) {
    count();
    find_regions();
    Recording part = read({}, texts, stacks);
    Trace& trace = part.traces.back();
    if (!regions_.empty()) {
      trace.addresses = trace.ids;
      trace.coverage.synthesised["regions, worked out from addresses"] = regions_.size();
    }
    trace.coverage.starts_empty = counted_.before == 0;
    if (counted_.before > 0) trace.coverage.complete = false;
    trace.stated.own_count = counted_;
    for (std::string& what : part.lacks) recording.lacks.push_back(std::move(what));
    recording.traces.push_back(std::move(trace));
  }
  /// As options name a model of it.
  std::string strategy() const {
    std::string text = "bfc";
    const auto add = [&](const std::string& option) {
      text += (text == "bfc" ? ':' : ',') + option;
    };
    if (counted_.limit > 0 && counted_.limit < kMostBytes) {
      add(fmt::format("limit={}", counted_.limit));
    }
    if (!grows_) add("allow_growth=false");
    if (device_named(name_) >= 0) add("garbage_collection=true");  // TensorFlow's default
    const auto is_plain = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
    if (!name_.empty() && std::ranges::all_of(name_, is_plain)) add(fmt::format("name={}", name_));
    return text;
  }
  const OwnCount& counted() const { return counted_; }
  std::size_t size() const { return events_.size(); }

 private:
  // The sum of all sizes so far is what the allocator states; what is more at the first event was
  // there before.
  void count() {
    const XSpaceEvent& first = events_.front();
    counted_ = {.allocator = std::string(name_), .events = events_.size()};
    Bytes sum = first.allocates ? first.in_use - std::min(first.in_use, first.allocated)
                                : first.in_use + first.allocated;
    counted_.before = counted_.peak = sum;
    for (const XSpaceEvent& event : events_) {
      sum = event.allocates ? sum + event.allocated : sum - event.allocated;
      counted_.agreeing += sum == event.in_use;
      counted_.peak = std::max(counted_.peak, event.in_use);
      counted_.limit = std::max(counted_.limit, event.in_use + event.available);
      counted_.process_peak = std::max(counted_.process_peak, event.process_peak);
    }
    counted_.end = events_.back().in_use;
  }

  // A block that begins inside of a region and ends behind it tells one that does not grow.
  void find_regions() {
    if (counted_.before > 0) return;
    regions_ = regions_of(events_, counted_.limit, true);
    if (!regions_.empty()) return;
    regions_ = regions_of(events_, counted_.limit, false);
    grows_ = regions_.empty();
  }

  Recording read(EarlierPointers earlier, TextNumbers& texts, LiveHeap& stacks) {
    for (;;) {
      PointerLog log(device_named(name_), path_, {});
      Recording part;
      part.path = path_;
      log.begin_with(earlier);
      fill(log, events_.front().ns, 0);
      auto region = regions_.begin();
      for (std::size_t i = 0; i < events_.size(); ++i) {
        const XSpaceEvent& event = events_[i];
        if (region != regions_.end() && region->event == i) {
          log.obtain_region(region->address / kGranule * kGranule, region->size);
          ++region;
        }
        if (event.allocates) {
          log.allocate({}, event.address, event.requested);
        } else {
          log.free({}, event.address,
                   event.requested > 0 ? std::optional(event.requested) : std::nullopt);
        }
        if (event.allocates) {
          fill(log, event.ns, event.thread, texts.number_of(event.op), stack_of(event, stacks));
        } else {
          fill(log, event.ns, event.thread);
        }
      }
      if (auto better = log.earlier()) {
        earlier = std::move(better);
        continue;
      }
      log.finish(part);
      Coverage& coverage = part.traces.back().coverage;
      for (const EarlierPointer& block : earlier.value_or(std::vector<EarlierPointer>())) {
        ++coverage.preexisting_blocks;
        coverage.preexisting_bytes += block.size;
      }
      return part;
    }
  }

  // The operator, with the tensor that it allocates as its caller, as flame graphs have it.
  static std::uint32_t stack_of(const XSpaceEvent& event, LiveHeap& stacks) {
    if (event.op.empty()) return 0;
    std::vector<std::uint32_t> frames = {stacks.frame(event.op, {}, kNoLine)};
    if (const std::string tensor = tensor_of(event); !tensor.empty()) {
      frames.push_back(stacks.frame(tensor, {}, kNoLine));
    }
    return stacks.stack(std::move(frames));
  }

  static void fill(PointerLog& log, std::int64_t ns, std::uint32_t thread, std::uint32_t tag = 0,
                   std::uint32_t stack = 0) {
    constexpr std::int64_t kNanoseconds = 1000;  // in a microsecond
    if (log.size() == 0) return;
    log.fill<&Trace::times_us>(ns / kNanoseconds);
    log.fill<&Trace::threads>(thread);
    log.fill<&Trace::tags>(tag);
    log.fill<&Trace::stacks>(stack);
  }

  std::string path_;
  std::string_view name_;
  Events events_;
  OwnCount counted_;
  std::vector<GrownRegion> regions_;
  bool grows_ = true;
};

std::string told(const std::vector<XSpaceAllocator>& allocators) {
  std::string text = "TensorFlow's profile (XSpace)";
  for (const XSpaceAllocator& allocator : allocators) {
    const OwnCount& counted = allocator.counted();
    text += fmt::format("; {} of {}{}", human_count(counted.events),
                        allocator.name().empty() ? "an allocator" : allocator.name(),
                        counted.agreeing == counted.events
                            ? ", whose own running sum agrees at each"
                            : fmt::format(", whose own running sum agrees at {} of them",
                                          human_count(counted.agreeing)));
  }
  return text;
}

Recording read_xspace(const Input& input, const ReadOptions& /*options*/) {
  Recording recording = recording_of_log(input, "xspace", "TensorFlow's profile (XSpace)");
  std::vector<XSpaceAllocator> allocators;
  for (const XSpaceEvent& event : xspace_events(input)) {
    auto known = std::ranges::find(allocators, event.allocator, &XSpaceAllocator::name);
    if (known == allocators.end()) {
      known = allocators.emplace(allocators.end(), input.name, event.allocator);
    }
    known->add(event);
  }
  if (allocators.empty()) {
    recording.why_no_trace =
        "is a profile without MemoryAllocation events (those of TensorFlow on a device or a host "
        "with BFC have them, those of JAX have not)";
    return recording;
  }
  recording.lacks = {"streams", "alignments", "requests that failed"};
  std::ranges::stable_sort(allocators, {}, [](const XSpaceAllocator& allocator) {
    return device_named(allocator.name());
  });
  TextNumbers texts(recording.texts);
  LiveHeap stacks(recording);
  for (XSpaceAllocator& allocator : allocators) {
    allocator.finish(recording, texts, stacks);
    if (allocator.name() == "mklcpu") {
      recording.lacks.emplace_back("requests below 262,144 bytes, which pass mklcpu by");
    }
  }
  recording.strategy = allocators.size() == 1 ? allocators.front().strategy() : "bfc";
  recording.detail = told(allocators);
  return recording;
}

}  // namespace

// openxla/xprof, xplane.proto; TensorFlow 2.21 writes it (tf.profiler.experimental, TensorBoard).
// What a BFC says of itself with every call.
ReaderInfo xspace_reader() {
  return {.name = "xspace",
          .summary = "A profile of TensorFlow (.xplane.pb): every call on its BFC allocators.",
          .recognises = [](const Input& input) { return is_xspace(input.bytes); },
          .read = read_xspace};
}

}  // namespace memreplay
