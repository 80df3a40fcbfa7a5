#include <algorithm>
#include <map>
#include <string>

#include "extensions/messages/message_kind.hpp"

namespace memreplay {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A context of CUDA and little else.
constexpr Bytes kMostOfContext = Bytes{3} << 29;

/// Takes parts off the beginning of a packed line.
class RowReader {
 public:
  explicit RowReader(std::string_view row) : row_(row) {}

  bool skip(std::string_view word) {
    if (row_.starts_with(kApart)) row_.remove_prefix(1);
    if (!row_.starts_with(word)) return false;
    row_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::uint64_t> number() {
    if (row_.starts_with(kApart)) row_.remove_prefix(1);
    std::uint64_t value = 0;
    std::size_t digits = 0;
    for (; digits < row_.size() && digits < 10 && is_digit(row_[digits]); ++digits) {
      value = 10 * value + static_cast<std::uint64_t>(row_[digits] - '0');
    }
    row_.remove_prefix(digits);
    return digits > 0 ? std::optional(value) : std::nullopt;
  }
  std::string_view rest() const { return row_; }

 private:
  std::string_view row_;
};

/// nvidia-smi's table: the devices, and what each process holds of them.
class SmiTable {
 public:
  SmiTable(const PackedText& text, std::vector<FoundMessage>& found) : text_(text), found_(found) {}

  void read() {
    for (std::size_t i = 0; i < text_.lines.size(); ++i) {
      const PackedLine& line = text_.lines[i];
      const std::size_t end =
          i + 1 < text_.lines.size() ? text_.lines[i + 1].at : text_.text.size();
      const std::string_view row = std::string_view(text_.text).substr(line.at, end - line.at);
      if (!read_process(row)) read_device({text_.text, line.at, end});
      if (!line_ && (!processes_.empty() || !devices_.empty())) line_ = line.number;
    }
    if (!add_contexts()) add_devices();
  }

 private:
  struct Row {
    std::uint64_t gpu = 0;
    ProcessUse process;
  };
  struct Device {
    std::optional<RoundedBytes> used, size;
  };

  // "| 0 N/A N/A 3001 C python 30120MiB |"; without the two columns before driver 450.
  bool read_process(std::string_view line) {
    RowReader row(line);
    const auto gpu = row.skip("|") ? row.number() : std::nullopt;
    if (!gpu) return false;
    if (row.skip("N/A")) row.skip("N/A");
    const auto id = row.number();
    if (!id || (!row.skip("C+G") && !row.skip("M+C") && !row.skip("C") && !row.skip("G"))) {
      return false;
    }
    const std::string_view rest = row.rest();
    const std::size_t unit = rest.rfind("MiB");
    if (unit == rest.npos || rest.size() > unit + 5) return false;
    std::size_t from = unit;
    while (from > 0 && is_digit(rest[from - 1])) --from;
    RowReader held(rest.substr(from, unit - from));
    const auto mib = held.number();
    if (!mib) return false;
    processes_.push_back({*gpu, {*id, {*mib << 20, Bytes{1} << 20}}});
    return true;
  }

  // "| N/A 45C P0 70W / 300W | 30123MiB / 32768MiB | 98% Default |", after the row of its name.
  void read_device(const MessageSpan& line) {
    static const Pattern kUse = "| {size:MiB} / {size:MiB} |";
    static const Pattern kBus = "00000000:";
    RowReader name(line.packed.substr(line.from, line.to - line.from));
    if (const auto gpu = name.skip("|") ? name.number() : std::nullopt; gpu && line.says(kBus)) {
      gpu_ = *gpu;
    } else if (const auto use = line.find(kUse)) {
      devices_[gpu_] = {use->values[0].size, use->values[1].size};
    }
  }

  // Processes that hold little of one device and work on another.
  bool add_contexts() {
    std::map<std::uint64_t, const Row*> home;
    for (const Row& row : processes_) {
      const Row*& most = home[row.process.id];
      if (most == nullptr || row.process.held.bytes > most->process.held.bytes) most = &row;
    }
    std::map<std::uint64_t, std::vector<ProcessUse>> strangers;
    for (const Row& row : processes_) {
      const Row& own = *home[row.process.id];
      const bool is_context = own.gpu != row.gpu && row.process.held.bytes < kMostOfContext &&
                              own.process.held.bytes > 2 * row.process.held.bytes;
      if (is_context) strangers[row.gpu].push_back(row.process);
    }
    for (auto& [gpu, processes] : strangers) {
      OomMessage& message = add(gpu);
      message[OomWord::type] = processes.size() == 1 ? "context" : "contexts";
      RoundedBytes all;
      for (const ProcessUse& process : processes) all = *sum_of(all, process.held);
      message[Figure::outside] = all;
      message.processes = std::move(processes);
      name_processes(message);
    }
    return !strangers.empty();
  }

  // "3001, 3002 and 3003"
  static void name_processes(OomMessage& message) {
    constexpr std::size_t kMost = 8;
    std::string& names = message[OomWord::pids];
    const std::size_t count = message.processes.size();
    for (std::size_t i = 0; i < std::min(count, kMost); ++i) {
      if (i > 0) names += i + 1 == count ? " and " : ", ";
      names += std::to_string(message.processes[i].id);
    }
    if (count > kMost) names += " and others";
  }

  void add_devices() {
    for (const Row& row : processes_) devices_[row.gpu];
    for (const auto& [gpu, device] : devices_) {
      OomMessage& message = add(gpu);
      for (const Row& row : processes_) {
        if (row.gpu == gpu) message.processes.push_back(row.process);
      }
      message[Figure::live] = device.used;
      name_processes(message);
    }
  }

  OomMessage& add(std::uint64_t gpu) {
    OomMessage& message = found_.emplace_back(FoundMessage{{}, line_.value_or(0)}).message;
    message.kind = "nvidia-smi";
    message.detail = "nvidia-smi's table";
    message[Count::gpu] = gpu;
    if (const auto device = devices_.find(gpu); device != devices_.end()) {
      message[Figure::device] = device->second.size;
    }
    return message;
  }

  const PackedText& text_;
  std::vector<FoundMessage>& found_;
  std::vector<Row> processes_;
  std::map<std::uint64_t, Device> devices_;
  std::uint64_t gpu_ = 0;
  std::optional<std::uint64_t> line_;
};

}  // namespace

// nvidia-smi of drivers 390 to 590; its MiB are whole.
MessageKind smi_message() {
  return {.name = "nvidia-smi",
          .detail = "nvidia-smi's table",
          .starts = {"N/A N/A {number} C", "PID Type Process name", "NVIDIA-SMI {word} Driver"},
          .is_state = true,
          .read = [](const PackedText& text, std::vector<FoundMessage>& found) {
            SmiTable(text, found).read();
          }};
}

}  // namespace memreplay
