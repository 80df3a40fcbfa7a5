#include <algorithm>

#include "core/text.hpp"
#include "core/units.hpp"
#include "extensions/messages/message_kind.hpp"

namespace memreplay {
namespace {

/// Bytes of an element; 0 where it is not known.
Bytes element_size(std::string_view type) {
  struct Size {
    std::string_view name;
    Bytes bytes;
  };
  constexpr Size kSizes[] = {{"bfloat16", 2}, {"double", 8}, {"complex128", 16}, {"complex64", 8},
                             {"float", 4},    {"half", 2},   {"int64", 8},       {"int32", 4},
                             {"int16", 2},    {"uint16", 2}, {"uint8", 1},       {"int8", 1},
                             {"bool", 1},     {"uint32", 4}, {"uint64", 8}};
  for (const Size& size : kSizes) {
    if (type == size.name) return size.bytes;
  }
  return 0;
}

// A shape of a packed text, "64,256,56,56": its commas part dimensions.
void complete_tensor(OomMessage& message, const MessageSpan& span) {
  double bytes = static_cast<double>(element_size(message[OomWord::type]));
  std::string_view shape = message[OomWord::shape];
  while (!shape.empty()) {
    const auto dimension = parse_whole(shape.substr(0, shape.find(',')));
    bytes *= static_cast<double>(dimension.value_or(0));
    shape.remove_prefix(std::min(shape.find(','), shape.size() - 1) + 1);
  }
  if (bytes > 0 && bytes < static_cast<double>(kMostBytes)) {
    message[Figure::requested] = RoundedBytes{static_cast<Bytes>(bytes), 0};
  }
  static const Pattern kHost[] = {"by allocator cpu", "device:CPU:", "device:cpu:"};
  if (std::ranges::any_of(kHost, [&](const Pattern& words) { return span.says(words); })) {
    message[OomWord::backend] = kHostBackend;
    for (const std::string_view name : {"bfc_cpu_allocator_for_gpu", "mklcpu", "cpu"}) {
      static const Pattern kBy = "by allocator ";
      const auto by = span.find(kBy);
      if (!by || !span.packed.substr(by->end).starts_with(name)) continue;
      message[OomWord::allocator] = name;
      break;
    }
  } else if (!message[OomWord::allocator].empty()) {
    message[OomWord::allocator] += "_bfc";
  }
}

// The largest buffer at the peak, and the line of the program that made it.
void complete_xla(OomMessage& message, const MessageSpan& span) {
  static const Pattern kFirst = "Buffer 1: Size: {largest_buffer}";
  static const Pattern kSecond = "Buffer 2: Size:";
  static const Pattern kLargest[] = {"allocations in {*}: 1. Size: {largest_buffer} Operator:",
                                     "allocations in {*}: 1. Size: {largest_buffer} Shape:",
                                     "allocations in {*}: 1. Size: {largest_buffer} Unpadded"};
  static const Pattern kNext = "2. Size: {size}";
  static const Pattern kPadding = "Extra memory due to padding: {padding} (";
  static const Pattern kSource = "source_file=\"{file}\" source_line={line}";
  static const Pattern kShape = "Shape: {shape}==";
  static const Pattern kPaddedShape = "Shape: {shape} Unpadded size:";
  static const Pattern kHbm = "Hbm usage: {size}, SparseCore Hbm usage {size}";
  if (const auto used = span.find(kHbm)) {
    message[OomWord::type] = "hbm";
    message[Figure::needed] = sum_of(used->values[0].size, used->values[1].size);
    message[Figure::lacking] = difference_of(message[Figure::needed], message[Figure::limit]);
  }
  auto first = span.find(kFirst);
  if (first) kFirst.fill(*first, message);
  for (const Pattern& largest : kLargest) {
    if (first) break;
    first = span.find(largest);
    if (first) largest.fill(*first, message);
  }
  if (!first) return;
  const auto second = kSecond.find(span.packed, first->end, span.to);
  const auto next = kNext.find(span.packed, first->end, span.to);
  const std::size_t end = std::min(second ? second->at : span.to, next ? next->at : span.to);
  const MessageSpan buffer{span.packed, first->end, end};
  const bool padded = buffer.says(kPaddedShape);
  for (const Pattern* pattern : {&kSource, padded ? &kPaddedShape : &kShape, &kPadding}) {
    if (const auto match = buffer.find(*pattern)) pattern->fill(*match, message);
  }
}

}  // namespace

// TensorFlow's gpu_device.cc: the memory that it gives a device's allocator, in MB of 2^20 bytes.
MessageKind tf_device_message() {
  return {.name = "tf-device",
          .detail = "TensorFlow's line of a device that it created",
          .starts = {"Created device {*}GPU:{gpu} with {limit:MiB} MB memory",
                     "Created TensorFlow device ({*}GPU:{gpu} with {limit:MiB} MB memory"},
          .is_state = true};
}

// TensorFlow's op_kernel.cc, up to today: shape and type of the tensor that an allocator refused.
MessageKind tf_tensor_message() {
  return {.name = "tf-tensor",
          .detail = "TensorFlow's error of a tensor",
          .starts =
              {"OOM when allocating tensor with shape[{shape}] and type {type} on {*}GPU:{gpu} by "
               "allocator {allocator}_bfc",
               "OOM when allocating tensor with shape[{shape}] and type {type} on",
               "OOM when allocating tensor of shape [{shape}] and type {type} ",
               "OOM when allocating tensor with shape[{shape}]",
               "failed to allocate memory [Op:{node}]"},
          .complete = complete_tensor};
}

// jax.Device.memory_stats(): a dictionary.
MessageKind jax_stats_message() {
  const std::vector<Pattern> keys = {"peak_bytes_in_use{~}{live_peak:B}", "bytes_in_use{~}{live:B}",
                                     "bytes_limit{~}{limit:B}", "pool_bytes{~}{reserved:B}",
                                     "largest_free_block_bytes{~}{largest_free:B}"};
  return {.name = "jax-stats",
          .detail = "memory_stats() of a device of JAX",
          .starts = keys,
          .complete =
              [](OomMessage& message, const MessageSpan& span) {
                // Where the text begins in it, it may be the end of "peak_bytes_in_use".
                const bool is_peak = span.packed.substr(span.from).starts_with("peak");
                if (is_peak || span.from == 0 || span.packed[span.from - 1] == kLeftOut) {
                  message[Figure::live].reset();
                }
                auto& largest = message[Figure::largest_free];
                if (largest && largest->bytes == 0) largest.reset();  // not counted
              },
          .join = add_missing,
          .is_state = true};
}

// XLA's errors, as JAX and TensorFlow raise them: pjrt and stream_executor, buffer_assignment.cc
// (its peak buffers since 2022), the TPU compiler's.
MessageKind xla_message() {
  return {.name = "xla",
          .detail = "XLA's error",
          .starts = {"Out of memory while trying to allocate {requested}",
                     "Out of memory allocating {requested}.",
                     "Failed to allocate request for {size} ({requested}) on device ordinal {gpu}",
                     "BufferAssignment OOM Debugging", "BufferAssignment stats:",
                     "Ran out of memory in memory space {type}. Used {needed} of {limit} hbm",
                     "Attempting to reserve {requested} at the bottom of memory",
                     "Attempting to allocate {requested}. That was not possible",
                     "TPU TensorCore Hbm usage: {size}, SparseCore Hbm usage {size}"},
          .fields = {"total allocation: {needed}", "capacity by {lacking}",
                     "There are {device_free} free", "reserved, and {largest_free} reservable",
                     "exceeding available bytes: {limit}"},
          .complete = complete_xla,
          .join = add_missing};
}

}  // namespace memreplay
