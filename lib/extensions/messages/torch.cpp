#include <algorithm>
#include <utility>

#include "extensions/messages/message_kind.hpp"

namespace memreplay {
namespace {

// What is neither free nor allocated lies in the driver's pool, or with others. A limit beyond any
// device is none.
void complete_async(OomMessage& message, const MessageSpan&) {
  message.overflows.clear();
  message[OomWord::backend] = "CUDA";
  message[Figure::outside] = difference_of(
      message[Figure::device], sum_of(message[Figure::live], message[Figure::device_free]));
}

void complete_mps(OomMessage& message, const MessageSpan&) {
  message[OomWord::backend] = "MPS";
  const auto held = sum_of(message[Figure::live], message[Figure::requested]);
  auto& lacking = message[Figure::lacking];
  lacking = difference_of(sum_of(held, message[Figure::outside]), message[Figure::limit]);
  if (lacking && lacking->bytes == 0) lacking.reset();  // less than the text's rounding
}

// "Process 311 has 15.67 GiB memory in use", of every process of this machine's container.
void add_processes(OomMessage& message, const MessageSpan& span) {
  static const Pattern kProcess = "Process {number} has {size} memory in use";
  for (auto match = span.find(kProcess); match;
       match = kProcess.find(span.packed, match->end, span.to)) {
    const auto& [id, held] = std::pair(match->values[0].count, match->values[1]);
    if (held.overflows) message.overflows.emplace_back(held.word);
    if (!held.overflows) message.processes.push_back({id, held.size});
  }
}

// What the allocator is for: "CUDA" before its first words, or the variable that it reads.
std::string backend_of(const MessageSpan& span) {
  constexpr std::size_t kLongest = 5;
  const std::string_view before = span.before(kLongest);
  const std::size_t other = before.find_last_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  const std::string_view name = other == before.npos ? before : before.substr(other + 1);
  static const Pattern kFirst = "out of memory.";
  if (name.size() > 1 && kFirst.match_at(span.packed, span.from)) return std::string(name);
  static const Pattern kNpu = "(NPU ";
  static const Pattern kVariable = "PYTORCH_{word}_ALLOC_CONF";
  if (span.says(kNpu)) return "NPU";
  const auto variable = span.find(kVariable);
  const bool is_name = variable && variable->values[0].word.size() <= kLongest;
  return is_name ? std::string(variable->values[0].word) : "";
}

// Its figures as people retell them, in lines of their own.
void read_retold(OomMessage& message, const MessageSpan& span) {
  static const Pattern kRetold[] = {"GPU: {device} total, {device_free} free",
                                    "Total GPU memory: {device}",
                                    "GPU total: {device}",
                                    "Total capacity: {device}",
                                    "total capacity: {device}",
                                    "Total memory: {device}",
                                    "Total: {device}",
                                    "GPU memory: {device}",
                                    "({device} total",
                                    "total: {device}",
                                    "total, {device_free} free",
                                    "free: {device_free}",
                                    "free, {live} allocated",
                                    "allocated by PyTorch: {live}",
                                    "by PyTorch: {live}",
                                    "allocated, {free_inside} reserved but unallocated",
                                    "Free GPU memory: {device_free}",
                                    "GPU free: {device_free}",
                                    "Free memory: {device_free}",
                                    "Free: {device_free}",
                                    "Allocated by PyTorch: {live}",
                                    "PyTorch allocated: {live}",
                                    "Already allocated: {live}",
                                    "already allocated: {live}",
                                    "Reserved but unallocated: {free_inside}",
                                    "reserved but unallocated: {free_inside}",
                                    "Reserved by PyTorch: {reserved}",
                                    "Process memory in use: {process}"};
  constexpr std::size_t kNearby = 1000;
  const MessageSpan nearby{span.packed, span.from, std::min(span.to, span.from + kNearby)};
  if (message[Figure::device_free] && message[Figure::live]) return;
  for (const Pattern& retold : kRetold) {
    if (const auto match = nearby.find(retold)) retold.fill(*match, message);
  }
}

// Its wording says which releases it may be of.
void note_release(OomMessage& message, const MessageSpan& span) {
  static const Pattern kBrackets = "total capacity; ";
  static const Pattern kCached = "cached)";
  static const Pattern kModern = "has a total capac";
  static const Pattern kSegments = "expandable_segments:True to avoid";
  if (span.says(kModern)) message.since = WordingRelease{2, 1};
  if (span.says(kSegments)) message.since = WordingRelease{2, 2};
  const bool others = message[OomWord::backend] != "CUDA" && message[OomWord::backend] != "HIP";
  if (others && !message[OomWord::backend].empty()) return;
  if (span.says(kBrackets)) message.until = WordingRelease{2, 0};
  if (span.says(kCached)) message.until = WordingRelease{1, 3};
}

void complete_torch(OomMessage& message, const MessageSpan& span) {
  static const Pattern kEnabled = "expandable_segments is enabled";
  static const Pattern kMost = "Tried to allocate more than 1EB";
  static const Pattern kBlock = "can NOT allocate memory block";
  message[OomWord::backend] = backend_of(span);
  if (message[Figure::largest_buffer] && span.says(kBlock)) message[OomWord::backend] = "XPU";
  message.expandable_segments = span.says(kEnabled);
  read_retold(message, span);
  if (span.says(kMost)) message.overflows.emplace_back("more than 1EB");
  add_processes(message, span);
  note_release(message, span);
  auto& reserved = message[Figure::reserved];
  auto& free_inside = message[Figure::free_inside];
  const auto& live = message[Figure::live];
  if (!reserved) reserved = sum_of(live, free_inside);
  if (!free_inside) free_inside = difference_of(reserved, live);
}

// Its figure follows within a few words; a maximum is not what is there now.
void complete_printed(OomMessage& message, const MessageSpan& span) {
  constexpr std::size_t kFewWords = 60;
  static const Pattern kPeaks[] = {"max", "Max", "MAX", "peak", "Peak", "PEAK"};
  const std::size_t figure = span.packed.find_first_of("0123456789", span.from);
  const MessageSpan before{span.packed, span.from - std::min<std::size_t>(span.from, 12),
                           span.from};
  const bool is_peak =
      std::ranges::any_of(kPeaks, [&](const Pattern& word) { return before.says(word); });
  if (figure > span.from + kFewWords) message.kind.clear();
  auto& live = message[Figure::live];
  auto& reserved = message[Figure::reserved];
  if (span.packed.substr(span.from).starts_with("max_")) {
    live.reset();
    reserved.reset();
  }
  if (!is_peak) return;
  if (live && !message[Figure::live_peak]) message[Figure::live_peak] = std::exchange(live, {});
  if (reserved && !message[Figure::reserved_peak])
    message[Figure::reserved_peak] = std::exchange(reserved, {});
}

// What is printed again is another state.
bool join_printed(OomMessage& before, const OomMessage& after) {
  for (std::size_t i = 0; i < kFigures; ++i) {
    if (before.figures[i] && after.figures[i]) return false;
  }
  return add_missing(before, after);
}

}  // namespace

// c10/cuda/CUDACachingAllocator.cpp. In brackets up to 2.0 ("cached" up to 1.3, "allowed"
// since 1.9), in sentences since 2.1 ("capacty" in 2.1), with the processes since 2.1, private
// pools since 2.2; the reserve of addresses and expandable segments in 2.15. torch_npu keeps the
// brackets. c10/xpu: without what is free up to 2.5.
MessageKind torch_message() {
  return {.name = "torch",
          .detail = "PyTorch's OOM message",
          .starts = {"can NOT allocate memory block with size larger than {largest_buffer}! Tried",
                     "out of memory. Tried to allocate", "Tried to allocate {requested} (GPU",
                     "Tried to allocate {requested} (NPU", "Tried to allocate {requested} (XPU",
                     "Tried to allocate {requested}. GPU", "Tried to allocate {requested}. NPU",
                     "(GPU {gpu}; {device} total capacity", "GPU {gpu} has a total capac"},
          .fields = {"Tried to allocate {requested}",
                     "GPU {gpu} has a total capac",
                     "NPU {gpu} has a total capac",
                     "(GPU {gpu};",
                     "(NPU {gpu};",
                     "(XPU {gpu};",
                     "total capacity of {device}",
                     "total capacty of {device}",
                     "; {device} total capacity",
                     "of which {device_free} is free",
                     "; {device_free} free;",
                     "this process has {process} memory in use",
                     "in use. {limit} allowed;",
                     "is free. {limit} allowed;",
                     "free; {limit} allowed;",
                     "allocated memory {live} is allocated by PyTorch",
                     "; {live} already allocated",
                     "; {active} current active",
                     "with {private_pools} allocated in private pools",
                     "and {free_inside} is reserved by PyTorch but unallocated",
                     "; {free_inside} cached)",
                     "; {reserved} reserved in total by PyTorch",
                     "expandable-segment reserve of {segment_reserve} for"},
          .complete = complete_torch};
}

// c10/cuda/CUDAMallocAsyncAllocator.cpp, since 1.12.
MessageKind torch_async_message() {
  return {.name = "torch-async",
          .detail = "the message of PyTorch's cudaMallocAsync back end",
          .starts = {"Allocation on device {gpu} would exceed allowed memory",
                     "would exceed allowed memory. (out of memory)",
                     "OutOfMemoryError: Allocation on device",
                     "Exception during processing !!! Allocation on device",
                     "Currently allocated : {live} Requested : {requested}"},
          .fields = {"Currently allocated : {live}", "Requested : {requested}",
                     "Device limit : {device}", "Free (according to CUDA): {device_free}",
                     "user-supplied memory fraction) : {limit}"},
          .complete = complete_async,
          .join = add_missing};
}

// torch/csrc/cuda/Module.cpp and torch/cuda/memory.py, memory_stats(): a dictionary, its items, or
// lines of key and value; its keys since 1.4, requested_bytes since 2.0.
MessageKind torch_stats_message() {
  return {
      .name = "torch-stats",
      .detail = "torch.cuda.memory_stats()",
      .starts = {"active_bytes.all.current{~}{active:B}", "active_bytes.all.peak{~}{active_peak:B}",
                 "allocated_bytes.all.current{~}{live:B}",
                 "allocated_bytes.all.peak{~}{live_peak:B}",
                 "requested_bytes.all.current{~}{live_requested:B}",
                 "reserved_bytes.all.current{~}{reserved:B}",
                 "reserved_bytes.all.peak{~}{reserved_peak:B}",
                 "inactive_split_bytes.all.current{~}{not_releasable:B}",
                 "allocation.all.current{~}{live_blocks}", "segment.all.current{~}{segments}",
                 "num_alloc_retries{~}{retries}", "num_ooms{~}{ooms}"},
      .join = add_missing,
      .is_state = true};
}

// torch/cuda/memory.py, memory_summary() since 1.4. Up to 1.12 its sizes are in KB, MB and GB,
// which mean powers of 1,024 there too.
MessageKind torch_summary_message() {
  return {
      .name = "torch-summary",
      .detail = "a table of torch.cuda.memory_summary()",
      .starts = {"memory summary, device ID {gpu}", "CUDA OOMs: {ooms}", "Allocated memory |"},
      .fields = {"cudaMalloc retries: {retries}", "Allocated memory | {live} | {live_peak} |",
                 "Allocated memory | {live} |", "Active memory | {active} | {active_peak} |",
                 "Active memory | {active} |", "Requested memory | {live_requested} |",
                 "GPU reserved memory | {reserved} | {reserved_peak} |",
                 "GPU reserved memory | {reserved} |", "Non-releasable memory | {not_releasable} |",
                 "Allocations | {live_blocks} |", "GPU reserved segments | {segments} |"},
      .join = add_missing,
      .is_state = true};
}

// What programs print of torch.cuda.memory_allocated() and its like; "GB" may be 10^9 bytes there.
MessageKind torch_printed_message() {
  return {.name = "torch-printed",
          .detail = "figures of PyTorch's allocator that a program printed",
          .starts = {"max_memory_allocated{*}: {live_peak}",
                     "max_memory_allocated{*}= {live_peak}",
                     "max_memory_reserved{*}: {reserved_peak}",
                     "max_memory_reserved{*}= {reserved_peak}",
                     "memory_allocated (GB): {live:GiB}",
                     "memory_allocated (MB): {live:MiB}",
                     "memory_reserved (GB): {reserved:GiB}",
                     "memory_reserved (MB): {reserved:MiB}",
                     "memory_allocated{*}: {live}",
                     "memory_allocated{*}= {live}",
                     "memory_reserved{*}: {reserved}",
                     "memory_reserved{*}= {reserved}",
                     "Allocated: {live} Cached: {reserved}",
                     "Allocated: {live} Reserved: {reserved}",
                     "Allocated: {live}, Reserved: {reserved}",
                     "Allocated: {live} | Reserved: {reserved}",
                     "allocated: {live}, reserved: {reserved}",
                     "allocated: {live} reserved: {reserved}",
                     "allocated={live}, reserved={reserved}",
                     "allocated {live}, reserved {reserved}",
                     "allocated: {live} | reserved: {reserved}",
                     "Memory allocated: {live}",
                     "Memory reserved: {reserved}",
                     "Memory Allocated: {live}",
                     "Memory Reserved: {reserved}",
                     "emory allocated: {live}",
                     "emory reserved: {reserved}"},
          .complete = complete_printed,
          .join = join_printed,
          .is_state = true};
}

// aten/src/ATen/mps/MPSAllocator.mm: GB, of 2^30 bytes, since 1.12 and GiB since 2.9; a buffer
// beyond Metal's limit is invalid.
MessageKind mps_message() {
  return {.name = "mps",
          .detail = "the message of PyTorch's MPS back end",
          .starts = {"MPS backend out of memory", "Invalid buffer size: {requested}"},
          .fields = {"MPS allocated: {live}", "currently allocated: {live}",
                     "other allocations: {outside}", "max allowed: {limit}",
                     "Tried to allocate {requested} on", "Tried to allocate {requested}"},
          .complete = complete_mps};
}

}  // namespace memreplay
