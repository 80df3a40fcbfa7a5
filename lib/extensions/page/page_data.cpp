#include "extensions/page/page_data.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <deque>
#include <future>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

#include "core/gpu_label.hpp"
#include "core/text.hpp"

namespace memreplay {
namespace {

// The page counts from events: the moment after event 7 is 7, and the one before all events is 0.
std::uint64_t event_of(const CurvePoint& point) { return point.event == 0 ? 0 : point.event - 1; }

void add_curve(Blob& blob, const std::string& name, const std::vector<CurvePoint>& points) {
  PackedColumn events;
  PackedColumn values;
  for (const CurvePoint& point : points) {
    events.step(event_of(point));
    values.step(static_cast<std::uint64_t>(point.value));
  }
  blob.add(name + "_events", events.bytes());
  blob.add(name + "_values", values.bytes());
}

Blob curves_blob(const RunPicture& picture) {
  Blob blob;
  add_curve(blob, "requested", picture.requested);
  add_curve(blob, "allocated", picture.allocated);
  add_curve(blob, "reserved", picture.reserved);
  return blob;
}

Blob places_blob(const PlacedBlocks& placed) {
  Blob blob;
  const std::pair<const char*, const PackedColumn*> columns[] = {
      {"places", &placed.places},
      {"charges", &placed.charges},
      {"region_events", &placed.region_events},
      {"region_ops", &placed.region_ops},
      {"region_addresses", &placed.region_addresses},
      {"region_bytes", &placed.region_bytes},
      {"region_lanes", &placed.region_lanes},
      {"reserved_events", &placed.reserved_events},
      {"reserved_bytes", &placed.reserved_bytes},
      {"within_events", &placed.within_events},
      {"within_bytes", &placed.within_bytes},
      {"late_events", &placed.late_events},
      {"late_blocks", &placed.late_blocks}};
  for (const auto& [name, column] : columns) blob.add(name, column->bytes());
  return blob;
}

Blob trace_blob(const TracePicture& trace) {
  Blob blob;
  const std::pair<const char*, const PackedColumn*> columns[] = {
      {"ops", &trace.ops},
      {"times", &trace.times},
      {"born", &trace.born},
      {"states", &trace.states},
      {"sizes", &trace.sizes},
      {"lanes", &trace.lanes},
      {"stacks", &trace.stacks},
      {"tags", &trace.tags},
      {"addresses", &trace.addresses},
      {"freed", &trace.freed},
      {"other_sizes", &trace.other_sizes},
      {"other_addresses", &trace.other_addresses},
      {"other_lanes", &trace.other_lanes},
      {"other_stacks", &trace.other_stacks},
      {"other_tags", &trace.other_tags}};
  for (const auto& [name, column] : columns) blob.add(name, column->bytes());
  std::string noise;  // a letter for every frame
  for (const bool is : trace.noise) noise += is ? '1' : '0';
  const Json names = {{"texts", trace.texts},   {"frames", trace.frames},
                      {"noise", noise},         {"stacks", trace.stacks_shown},
                      {"places", trace.places}, {"place_of_stack", trace.place_of_stack}};
  blob.add("names", names.dump());
  return blob;
}

// The event right after which the memory is what `explain` speaks of.
std::uint64_t event_shown(const Explanation& explanation) { return explanation.event.value_or(0); }

// What an allocator may have of the device at all; null: nobody knows.
Json limit_of(const ExplainedDevice& device) {
  if (const auto allowance = device.explanation.allowance()) return *allowance;
  return device.device.capacity ? Json(device.device.usable()) : Json(nullptr);
}

// What the run lacked at its first OOM, by its verdict: a name, a size or share, and what it means.
Json figure_at_oom(const Run& run) {
  if (!run.metrics.first_oom) return nullptr;
  const OomPlace& oom = *run.metrics.first_oom;
  const Cause by_holes = oom.free < oom.requested ? Cause::shortage : Cause::fragmentation;
  const Cause cause = run.refusal ? run.refusal->verdict.cause : by_holes;
  if (cause == Cause::limit) {
    return {"limit at the OOM", human_size(run.refusal->refusal.allowance),
            fmt::format("is all that the strategy may hold; the device has {} free",
                        human_size(oom.device_free))};
  }
  if (cause == Cause::fragmentation) {
    const auto outside = static_cast<double>(oom.free - std::min(oom.free, oom.largest_free));
    return {
        "fragmentation at the OOM",
        fmt::format("{:.0f} %", 100 * outside / static_cast<double>(std::max<Bytes>(oom.free, 1))),
        fmt::format("of the {} free is outside the largest hole", human_size(oom.free))};
  }
  const bool later = run.refusal && run.refusal->too_much;
  const RequestInRoom wanted =
      later ? *run.refusal->too_much
            : RequestInRoom{oom.event, oom.live, oom.requested, oom.held + oom.device_free};
  const Bytes most = wanted.live + wanted.requested;
  return {later ? "missing after the OOM" : "missing at the OOM",
          human_size(most - std::min(most, wanted.room)),
          fmt::format("for the {} request at event {}", human_size(wanted.requested),
                      human_count(wanted.event))};
}

class Packer {
 public:
  explicit Packer(const PageAnswer& page) : page_(page), room_(page.most_bytes) {}

  PageData pack() {
    for (const PageDevice& device : page_.devices) begin_places(device);
    Json devices = Json::array();
    for (const PageDevice& device : page_.devices) devices.push_back(described(device));
    // What is there whatever the size comes first; places take what room is left.
    for (std::size_t d = 0; d < page_.devices.size(); ++d) add_places(d, devices[d]["runs"]);
    data_.description = {{"devices", std::move(devices)}, {"worst", page_.worst}};
    return std::move(data_);
  }

 private:
  Json put(const Blob& blob) { return put(blob.packed(), blob); }

  Json put(std::string packed, const Blob& blob) {
    const std::string id = fmt::format("data-{}", data_.texts.size());
    room_ -= std::min<Bytes>(room_, packed.size());
    data_.texts.push_back({id, std::move(packed)});
    return {{"blob", id}, {"columns", blob.table()}};
  }

  static std::string name_of(const PageDevice& device) {
    return fmt::format("{} {}", device.report.trace.path, gpu_label(device.report.trace.gpu));
  }

  Json described(const PageDevice& device) {
    const TracePicture& trace = device.trace;
    Json lanes = Json::array();
    for (const auto& lane : trace.lane_names) {
      lanes.push_back({{"stream", std::to_string(lane.stream)}, {"pool", lane.pool}});
    }
    Json phases = Json::array();
    for (const Phase& phase : trace.phases) {
      phases.push_back({phase.name, phase.from, phase.to, phase.depth});
    }
    Json runs = Json::array();
    for (const Run& run : device.report.runs) runs.push_back(described(run));
    if (trace.window.size() < trace.events) {
      data_.left_out.push_back(fmt::format(
          "{}: events [{}, {}) are in the page in full; the others as reduced curves (--from and "
          "--to choose).",
          name_of(device), human_count(trace.window.from), human_count(trace.window.to)));
    }
    return {{"name", name_of(device)},
            {"events", trace.events},
            {"window", {trace.window.from, trace.window.to}},
            {"explained", event_shown(device.explained.explanation)},
            {"fragmented", device.explained.explanation.cause == Cause::fragmentation},
            {"limit", limit_of(device.explained)},
            {"has_times", !trace.times.bytes().empty()},
            {"lanes", std::move(lanes)},
            {"phases", std::move(phases)},
            {"trace", put(trace_blob(trace))},
            {"runs", std::move(runs)}};
  }

  Json described(const Run& run) {
    const RunPicture& picture = *run.picture;
    Json ooms = Json::array();
    for (const auto& oom : picture.ooms) {
      ooms.push_back({oom.event, oom.requested ? Json(*oom.requested) : Json(nullptr)});
    }
    Json retries = Json::array();
    for (const auto& retry : picture.retries) retries.push_back(retry.event);
    return {{"name", run.name()},
            {"ooms", std::move(ooms)},
            {"retries", std::move(retries)},
            {"curves", put(curves_blob(picture))},
            {"at_oom", figure_at_oom(run)},
            {"fullest", picture.fullest == 0 ? 0 : picture.fullest - 1},
            {"places", nullptr},
            {"why_no_places", nullptr}};
  }

  // Packing is most of the work: on threads of its own, while the rest is packed.
  void begin_places(const PageDevice& device) {
    for (const PlacedBlocks& placed : device.placed) {
      const Blob& blob = place_blobs_.emplace_back(places_blob(placed));
      packed_places_.push_back(std::async([&blob] { return blob.packed(); }));
    }
  }

  void add_places(std::size_t number, Json& runs) {
    const PageDevice& device = page_.devices[number];
    for (std::size_t r = 0; r < runs.size(); ++r, ++places_added_) {
      const PlacedBlocks& placed = device.placed[r];
      const std::string strategy = device.report.runs[r].name();
      if (!placed.keeps_places) {
        runs[r]["why_no_places"] = fmt::format(
            "{} moves blocks out of the device and back: their placement is not drawn.", strategy);
        continue;
      }
      std::string packed = packed_places_[places_added_].get();
      if (packed.size() > room_) {
        data_.left_out.push_back(
            fmt::format("The placements of {} would take {} more and are left out; a report of it "
                        "alone has them.",
                        strategy, human_size(packed.size())));
        runs[r]["why_no_places"] = data_.left_out.back();
        continue;
      }
      runs[r]["base"] = std::to_string(placed.base);
      runs[r]["unit"] = placed.unit;
      runs[r]["early_regions"] = placed.early_regions;
      runs[r]["places"] = put(std::move(packed), place_blobs_[places_added_]);
    }
  }

  const PageAnswer& page_;
  Bytes room_;
  PageData data_;
  std::deque<Blob> place_blobs_;                         ///< for every run of every device
  std::vector<std::future<std::string>> packed_places_;  ///< after the blobs: they are waited for
  std::size_t places_added_ = 0;
};

}  // namespace

std::string deflated(const std::string& bytes) {
  constexpr int kQuick = 2;
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  const int result = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), kQuick);
  if (result == Z_MEM_ERROR) throw std::bad_alloc();
  if (result != Z_OK) throw std::runtime_error("zlib refuses to compress");
  packed.resize(size);
  return packed;
}

std::string base64(const std::string& bytes) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text((bytes.size() + 2) / 3 * 4, '=');
  for (std::size_t at = 0, to = 0; at < bytes.size(); at += 3, to += 4) {
    const std::size_t here = std::min<std::size_t>(bytes.size() - at, 3);
    std::uint32_t three = 0;
    for (std::size_t i = 0; i < here; ++i) {
      three |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i]))
               << (16 - 8 * i);
    }
    for (std::size_t i = 0; i <= here; ++i) text[to + i] = kLetters[three >> (18 - 6 * i) & 63];
  }
  return text;
}

PageData page_data(const PageAnswer& page) { return Packer(page).pack(); }

void Blob::add(std::string_view name, std::string_view bytes) {
  table_[name] = {bytes_.size(), bytes.size()};
  bytes_ += bytes;
}

std::string Blob::packed() const { return base64(deflated(bytes_)); }

}  // namespace memreplay
