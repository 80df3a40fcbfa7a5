#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/units.hpp"
#include "extensions/nsight/nsight_rows.hpp"
#include "extensions/nsight/sqlite_file.hpp"
#include "trace/pointer_log.hpp"
#include "trace/process_choice.hpp"
#include "trace/reader.hpp"
#include "trace/text_numbers.hpp"

namespace memreplay {
namespace {

/// What a row says, without what it does not need.
struct NsightEvent {
  std::int64_t start_ns = 0;
  Address address = 0;
  Bytes size = 0;
  std::uint64_t stream = 0;
  Address pool = 0;  ///< cudaMallocAsync's
  std::uint64_t process = 0;
  int device = 0;
  std::uint32_t name = 0;  ///< a text
  std::int64_t operation = 0;
  std::int64_t kind = 0;
};

/// Makes the traces of a recording, one a device, from rows in any order.
class NsightReader {
 public:
  NsightReader(const Input& input, const ReadOptions& options)
      : input_(input),
        processes_(options),
        recording_(recording_of_log(input, "nsight", "Nsight Systems export")) {}

  Recording read() {
    const auto take = [&](const NsightRow& row) { add(row); };
    if (!is_sqlite(input_.bytes)) reserve_at_most(events_, about_lines(input_.bytes));
    enums_ = is_sqlite(input_.bytes) ? nsight_rows_of_sqlite(input_, take)
                                     : nsight_rows_of_csv(input_, take);
    order();
    if (const std::string missing = processes_.tell(recording_); !missing.empty()) {
      throw InputError(input_.name, "", missing);
    }
    try {
      for (const NsightEvent& event : events_) replay(event);
    } catch (const std::length_error& error) {
      throw InputError(input_.name, "", error.what());
    }
    // Columns that only some rows have.
    for (auto& [gpu, device] : devices_) {
      if (device.named) device.log.trace().tags.resize(device.log.trace().ops.size());
      if (!device.named) device.log.trace().tags.clear();
      for (const auto& [reason, rows] : left_out_) device.log.leave_out(reason, rows);
      left_out_.clear();
      device.log.finish(recording_);
    }
    if (devices_.empty()) {
      throw InputError(input_.name, "", "has no events of device memory; nothing to replay");
    }
    return std::move(recording_);
  }

 private:
  struct Device {
    Device(int gpu, const Input& input, std::size_t events) : log(gpu, input.name, {}) {
      log.expect(events, &Trace::times_us, &Trace::tags);
    }
    PointerLog log;
    /// By process, of what is live, where not in the first heap of that.
    std::vector<std::unordered_map<Address, std::uint64_t>> heaps;
    bool named = false;
  };

  void add(const NsightRow& row);
  void order();
  void replay(const NsightEvent& event);
  std::uint64_t heap_of(Device& device, const NsightEvent& event, bool frees);
  std::uint64_t heap_numbered(std::uint64_t process, Address pool);
  std::int64_t needed(const NsightRow& row, NsightColumn column) const;
  std::int64_t bounded(const NsightRow& row, NsightColumn column, std::int64_t most) const;
  [[noreturn]] void fail(const NsightRow& row, NsightColumn column, std::string_view what) const {
    throw InputError(input_.name, row.place(),
                     fmt::format("{} {}", kNsightNames[static_cast<std::size_t>(column)], what));
  }

  const Input& input_;
  ProcessChoice processes_;
  Recording recording_;
  NsightEnums enums_;
  std::vector<NsightEvent> events_;
  std::map<int, Device> devices_;
  std::map<std::uint64_t, std::uint64_t> process_numbers_;  ///< from 0 on, where they are merged
  std::map<std::pair<std::uint64_t, Address>, std::uint64_t> pools_;  ///< by process and address
  TextNumbers names_{recording_.texts};
  std::map<std::string, std::uint64_t> left_out_;
};

std::int64_t NsightReader::needed(const NsightRow& row, NsightColumn column) const {
  if (!row.at(column)) fail(row, column, "is empty; expected a whole number");
  return *row.at(column);
}

std::int64_t NsightReader::bounded(const NsightRow& row, NsightColumn column,
                                   std::int64_t most) const {
  const std::int64_t number = row.at(column).value_or(0);
  if (number >= 0 && number <= most) return number;
  fail(row, column, fmt::format("is {}; expected 0 to {}", number, most));
}

void NsightReader::add(const NsightRow& row) {
  constexpr std::int64_t kNanoseconds = 1000;
  using enum NsightColumn;
  NsightEvent event;
  event.start_ns = needed(row, start);
  if (event.start_ns / kNanoseconds > kMostTime || event.start_ns / kNanoseconds < -kMostTime)
    fail(row, start, "is not a time");
  event.address = static_cast<Address>(needed(row, address));
  needed(row, bytes);
  event.size = static_cast<Bytes>(bounded(row, bytes, static_cast<std::int64_t>(kMostBytes) - 1));
  event.operation = needed(row, operation);
  event.kind = row.at(kind).value_or(NsightEnums{}.device_kind);
  event.stream = static_cast<std::uint64_t>(row.at(stream).value_or(0));
  event.pool = static_cast<Address>(row.at(memory_pool).value_or(0));
  constexpr unsigned kPidAt = 24;
  constexpr std::uint64_t kPids = 0xFFFFFF;
  event.process = static_cast<std::uint64_t>(row.at(process).value_or(0)) >> kPidAt & kPids;
  event.device = static_cast<int>(bounded(row, device, kMostDevices - 1));
  event.name = names_.number_of(row.name);
  events_.push_back(event);
}

// Statics were there before the program began; of one time rows stand in their order.
void NsightReader::order() {
  const auto when = [&](const NsightEvent& event) {
    const bool is_static = event.kind == enums_.static_kind && event.operation == enums_.allocation;
    return std::pair(!is_static, event.start_ns);
  };
  if (!std::ranges::is_sorted(events_, {}, when)) std::ranges::stable_sort(events_, {}, when);
  const auto of_device = [&](const NsightEvent& event) {
    return event.kind == enums_.device_kind || event.kind == enums_.static_kind;
  };
  const auto first = std::ranges::find_if(
      events_, [&](const NsightEvent& event) { return event.kind == enums_.device_kind; });
  if (first == events_.end()) return events_.clear();
  // The first that uses a device; what was there before it began is of it or of others.
  processes_.takes(first->process);
  std::erase_if(events_, [&](const NsightEvent& event) {
    if (!of_device(event)) {
      ++left_out_["events of other memory than the device's"];
    } else if (!processes_.takes(event.process)) {
      ++left_out_["events of other processes"];
    } else {
      return false;
    }
    return true;
  });
}

// Each process has addresses of its own.
std::uint64_t NsightReader::heap_of(Device& device, const NsightEvent& event, bool frees) {
  std::uint64_t process = 0;
  if (processes_.is_merged()) {
    process = process_numbers_.try_emplace(event.process, process_numbers_.size()).first->second;
  }
  if (process >= device.heaps.size()) device.heaps.resize(process + 1);
  auto& heaps = device.heaps[process];
  if (frees) {
    const auto live = heaps.find(event.address);
    if (live == heaps.end()) return heap_numbered(process, 0);
    const std::uint64_t heap = live->second;
    heaps.erase(live);
    return heap;
  }
  const std::uint64_t heap = heap_numbered(process, event.pool);
  if (event.pool != 0) heaps[event.address] = heap;
  return heap;
}

std::uint64_t NsightReader::heap_numbered(std::uint64_t process, Address pool) {
  if (process == 0 && pool == 0) return 0;
  return pools_.try_emplace({process, pool}, pools_.size() + 1).first->second;
}

void NsightReader::replay(const NsightEvent& event) {
  const bool frees = event.operation == enums_.deallocation;
  if (!frees && event.operation != enums_.allocation) {
    ++left_out_["events of an unknown type"];
    return;
  }
  Device& device =
      devices_.try_emplace(event.device, event.device, input_, events_.size()).first->second;
  const PointerPlace place{.heap = heap_of(device, event, frees), .stream = event.stream};
  if (frees) {
    device.log.free(place, event.address);
  } else {
    device.log.allocate(place, event.address, event.size);
  }
  device.log.fill<&Trace::times_us>(event.start_ns / 1000);
  device.log.fill<&Trace::tags>(frees ? 0 : event.name);
  device.named |= event.name != 0;
}

}  // namespace

/// The device memory that a program under Nsight Systems obtained and gave back, from the SQLite
/// export or the same columns as CSV. Under a caching allocator these are its segments.
ReaderInfo nsight_reader() {
  return {
      .name = "nsight",
      .summary = "Nsight Systems: its SQLite export, or the table of memory usage events as CSV.",
      .recognises =
          [](const Input& input) { return is_sqlite(input.bytes) || is_nsight_csv(input); },
      .read = [](const Input& input,
                 const ReadOptions& options) { return NsightReader(input, options).read(); },
      .has_processes = true};
}

}  // namespace memreplay
