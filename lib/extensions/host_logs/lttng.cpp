#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "trace/csv_rows.hpp"
#include "trace/gate.hpp"
#include "trace/log_lines.hpp"
#include "trace/log_reading.hpp"
#include "trace/pointer_log.hpp"
#include "trace/process_choice.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kProvider = "lttng_ust_libc:";

/// "[09:15:02.351372351] (+0.000001234) host lttng_ust_libc:malloc: { cpu_id = 2 }, { vpid = 7,
/// vtid = 8 }, { size = 100, ptr = 0x55D0 }"
struct LttngLine {
  std::string_view time;
  std::string_view function;
  std::string_view fields;

  /// Empty where it is not there.
  std::string_view operator[](std::string_view name) const {
    for (std::size_t at = fields.find(name); at != fields.npos; at = fields.find(name, at + 1)) {
      std::string_view rest = fields.substr(at + name.size());
      if (at == 0 || fields[at - 1] != ' ' || !rest.starts_with(" = ")) continue;
      rest.remove_prefix(3);
      return rest.substr(0, rest.find_first_of(", }"));
    }
    return {};
  }
};

LttngLine parsed(std::string_view text) {
  LttngLine line;
  const std::size_t at = text.find(kProvider);
  if (!text.starts_with('[') || at == text.npos) return line;
  line.time = text.substr(1, std::min(text.find(']'), text.size()) - 1);
  const std::string_view event = text.substr(at + kProvider.size());
  const std::size_t colon = event.find(": {");
  if (colon == event.npos) return line;
  line.function = event.substr(0, colon);
  line.fields = event.substr(colon);
  return line;
}

bool is_lttng(const Input& input) {
  constexpr std::size_t kNear = 64 << 10;
  const Input beginning{input.name, input.bytes.substr(0, kNear)};
  LogLines lines(beginning);
  while (lines.next() && lines.line().starts_with('[')) {
    if (!parsed(lines.line()).function.empty()) return true;
  }
  return false;
}

class LttngReader {
 public:
  LttngReader(const Input& input, const ReadOptions& options, const BeginEvents& begin)
      : lines_(input),
        processes_(options),
        log_(kHostMemory, input.name, begin),
        recording_(recording_of_log(input, "lttng", "LTTng's trace of the C library")) {
    recording_.lacks = {"call sites"};
    log_.tell_places([this] { return lines_.place(); });
    log_.expect(lines_.about(), &Trace::threads, &Trace::times_us);
  }

  /// False where events are to leave and there are none.
  bool read_all() {
    read_lines(
        lines_, log_.trace().coverage, [this] { read_line(); }, [this] { log_.is_filled(); });
    if (const std::string missing = processes_.tell(recording_); !missing.empty()) {
      lines_.fail(missing);
    }
    return log_.finish(recording_);
  }
  Recording take() { return std::move(recording_); }

 private:
  void read_line() {
    const LttngLine line = parsed(lines_.line());
    if (line.function.empty()) return log_.leave_out("lines of other events");
    const std::string_view process = line["vpid"];
    if (!processes_.takes(process)) return log_.leave_out("lines of other processes");
    // Each process has addresses of its own.
    PointerPlace place;
    if (processes_.is_merged()) {
      place.heap = heaps_.try_emplace(std::string(process), heaps_.size()).first->second;
    }
    call(line, place);
    const auto time = parse_csv_time(line.time, CsvTimeUnit::undecided);
    if (time && time->us >= 0 && time->us <= kMostTime) latest_us_ = time->us;
    log_.fill<&Trace::times_us>(latest_us_);
    log_.fill<&Trace::threads>(static_cast<std::uint32_t>(
        std::min<std::uint64_t>(parse_whole(line["vtid"]).value_or(0), UINT32_MAX)));
  }

  void call(const LttngLine& line, PointerPlace place) {
    const auto pointer = [&](std::string_view name) { return lines_.address(line[name]); };
    const auto size = [&] { return lines_.size(line["size"]); };
    if (line.function == "malloc" || line.function == "memalign") {
      log_.allocate(place, pointer("ptr"), size());
    } else if (line.function == "posix_memalign") {
      log_.allocate(place, line["result"] == "0" ? pointer("out_ptr") : 0, size());
    } else if (line.function == "calloc") {
      const Bytes number = lines_.size(line["nmemb"]), each = size();
      if (each > 0 && number >= kMostBytes / each) {
        lines_.bad("a size", line["size"], "less than 1 EiB");
      }
      log_.allocate(place, pointer("ptr"), number * each);
    } else if (line.function == "realloc") {
      log_.reallocate(place, pointer("in_ptr"), pointer("ptr"), size());
    } else if (line.function == "free") {
      log_.free(place, pointer("ptr"));
    } else {
      log_.leave_out("lines of other events");
    }
  }

  LogLines lines_;
  ProcessChoice processes_;
  PointerLog log_;
  Recording recording_;
  std::map<std::string, std::uint64_t> heaps_;
  std::int64_t latest_us_ = 0;
};

}  // namespace

// liblttng-ust-libc-wrapper.so of LTTng-UST 2.x, as babeltrace 1 and 2 print it.
ReaderInfo lttng_reader() {
  return {.name = "lttng",
          .summary = "LTTng's trace of the C library's malloc and free, as babeltrace prints it.",
          .recognises = is_lttng,
          .read = read_and_keep<LttngReader>,
          .hand_on = read_and_hand_on<LttngReader>,
          .stream = stream_as_read<LttngReader>,
          .has_processes = true};
}

}  // namespace memreplay
