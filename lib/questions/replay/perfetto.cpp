#include "questions/replay/perfetto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "trace/json/json.hpp"

namespace memreplay {
namespace {

/// Both curves right after one moment, or at its highest.
struct Held {
  std::uint64_t moment = 0;
  std::int64_t allocated = 0;
  std::int64_t reserved = 0;

  friend bool operator==(const Held&, const Held&) = default;
};

std::string quoted(const std::string& text) { return Json(text).dump(); }

std::string number(Bytes value) {
  constexpr Bytes kExactBelow = Bytes{1} << 53;
  return value < kExactBelow ? fmt::format("{}", value) : fmt::format("\"{}\"", value);
}

// The kept points of the two curves in one order. At one moment the highest reserved comes first;
// what comes after it both curves may have kept.
std::vector<Held> together(const RunPicture& picture) {
  std::vector<Held> reserved;
  std::vector<Held> allocated;
  for (const CurvePoint& point : picture.reserved) {
    reserved.push_back({point.event, point.beside, point.value});
  }
  for (const CurvePoint& point : picture.allocated) {
    allocated.push_back({point.event, point.value, point.beside});
  }
  std::vector<Held> all;
  std::ranges::merge(reserved, allocated, std::back_inserter(all), {}, &Held::moment,
                     &Held::moment);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// The event that a moment comes after; the first moment counts as the first event.
std::uint64_t event_of(std::uint64_t moment, const RunPicture& picture) {
  return moment > picture.from ? moment - 1 : picture.from;
}

}  // namespace

bool has_clock(std::span<const std::int64_t> times_us) {
  return !times_us.empty() && std::ranges::is_sorted(times_us);
}

PerfettoWriter::PerfettoWriter(std::ostream& out, PerfettoClock clock) : out_(out), clock_(clock) {
  out_ << fmt::format(
      R"({{"displayTimeUnit":"ms","otherData":{{"ts":"{}"}},"traceEvents":[)",
      clock == PerfettoClock::recorded_us ? "recorded time in us" : "number of the event");
}

std::int64_t PerfettoWriter::time_of(std::uint64_t event,
                                     std::span<const std::int64_t> times_us) const {
  if (clock_ == PerfettoClock::event_number) return static_cast<std::int64_t>(event);
  return times_us[std::min<std::size_t>(event, times_us.size() - 1)];
}

std::string& PerfettoWriter::begin_event() {
  text_ += first_ ? "\n" : ",\n";
  first_ = false;
  return text_;
}

void PerfettoWriter::end_event() {
  constexpr std::size_t kPiece = 1 << 16;
  if (text_.size() < kPiece) return;
  out_ << text_;
  text_.clear();
}

void PerfettoWriter::begin_process(const std::string& name) {
  ++process_;
  fmt::format_to(std::back_inserter(begin_event()),
                 R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", process_,
                 quoted(name));
  fmt::format_to(
      std::back_inserter(begin_event()),
      R"({{"ph":"M","name":"process_sort_index","pid":{0},"args":{{"sort_index":{0}}}}})",
      process_);
}

void PerfettoWriter::add_run(const std::string& name, const RunPicture& picture,
                             std::span<const std::int64_t> times_us) {
  begin_process(name);
  add_counters(picture, times_us);
  add_instants(picture, times_us);
  for (const RunPicture::Segment& segment : picture.segments) {
    add_slice(
        {"segment", "segment",
         fmt::format(R"({{"address":"{:#x}","bytes":{}}})", segment.address, number(segment.bytes)),
         time_of(event_of(segment.from, picture), times_us),
         time_of(event_of(segment.to, picture), times_us)});
  }
}

void PerfettoWriter::add_counters(const RunPicture& picture,
                                  std::span<const std::int64_t> times_us) {
  for (const Held& held : together(picture)) {
    fmt::format_to(
        std::back_inserter(begin_event()),
        R"({{"ph":"C","name":"memory","pid":{},"ts":{},"args":{{"allocated":{},"cached":{}}}}})",
        process_, time_of(event_of(held.moment, picture), times_us), held.allocated,
        held.reserved - held.allocated);
    end_event();
  }
  constexpr double kMillion = 1e6;
  for (const CurvePoint& point : picture.fragmentation) {
    fmt::format_to(
        std::back_inserter(begin_event()),
        R"({{"ph":"C","name":"fragmentation","pid":{},"ts":{},"args":{{"external":{}}}}})",
        process_, time_of(event_of(point.event, picture), times_us),
        static_cast<double>(point.value) / kMillion);
    end_event();
  }
}

void PerfettoWriter::add_instants(const RunPicture& picture,
                                  std::span<const std::int64_t> times_us) {
  for (const RunPicture::Oom& oom : picture.ooms) {
    fmt::format_to(
        std::back_inserter(begin_event()),
        R"({{"ph":"i","s":"p","name":"OOM","pid":{},"tid":0,"ts":{},"args":{{"seq":{},"count":{})",
        process_, time_of(oom.event, times_us), oom.event, oom.count);
    if (oom.requested) text_ += fmt::format(R"(,"size":{})", number(*oom.requested));
    text_ +=
        fmt::format(R"(,"free":{},"largest":{}}}}})", number(oom.free), number(oom.largest_free));
    end_event();
  }
  for (const RunPicture::Retries& retries : picture.retries) {
    fmt::format_to(
        std::back_inserter(begin_event()),
        R"({{"ph":"i","s":"p","name":"retry","pid":{},"tid":0,"ts":{},"args":{{"seq":{},"count":{}}}}})",
        process_, time_of(retries.event, times_us), retries.event, retries.count);
    end_event();
  }
}

void PerfettoWriter::add_phases(const std::string& name, const std::vector<Phase>& phases,
                                std::uint64_t events, std::span<const std::int64_t> times_us) {
  if (phases.empty()) return;
  begin_process(name);
  const std::uint64_t last = std::max<std::uint64_t>(events, 1) - 1;
  for (const Phase& phase : phases) {
    add_slice({"phase", phase.name, "{}", time_of(phase.from, times_us),
               time_of(std::min(phase.to, last), times_us)});
  }
}

void PerfettoWriter::add_slice(const Slice& slice) {
  const std::string common = fmt::format(R"("cat":"{}","name":{},"id":{},"pid":{},"tid":0)",
                                         slice.category, quoted(slice.name), ++slices_, process_);
  fmt::format_to(std::back_inserter(begin_event()), R"({{"ph":"b",{},"ts":{},"args":{}}})", common,
                 slice.from_us, slice.arguments);
  fmt::format_to(std::back_inserter(begin_event()), R"({{"ph":"e",{},"ts":{}}})", common,
                 slice.to_us);
  end_event();
}

void PerfettoWriter::finish() { out_ << text_ << "\n]}\n"; }

}  // namespace memreplay
