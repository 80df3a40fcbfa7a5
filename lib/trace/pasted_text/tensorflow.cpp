#include <algorithm>

#include "core/text.hpp"
#include "core/units.hpp"
#include "trace/pasted_text/message_kind.hpp"

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
  static const Pattern kHost = "by allocator cpu";
  if (span.says(kHost)) {
    message.kind = "host";
    message[OomWord::type].clear();
  } else if (!message[OomWord::allocator].empty()) {
    message[OomWord::allocator] += "_bfc";
  }
}

// The largest buffer at the peak, and the line of the program that made it.
void complete_xla(OomMessage& message, const MessageSpan& span) {
  static const Pattern kFirst = "Buffer 1: Size: {largest_buffer}";
  static const Pattern kSecond = "Buffer 2: Size:";
  static const Pattern kSource = "source_file=\"{file}\" source_line={line}";
  static const Pattern kShape = "Shape: {shape}==";
  static const Pattern kHbm = "Hbm usage: {size}, SparseCore Hbm usage {size}";
  if (const auto used = span.find(kHbm)) {
    message[OomWord::type] = "hbm";
    message[Figure::needed] = sum_of(used->values[0].size, used->values[1].size);
    message[Figure::lacking] = difference_of(message[Figure::needed], message[Figure::limit]);
  }
  const auto first = span.find(kFirst);
  if (!first) return;
  kFirst.fill(*first, message);
  const auto second = span.find(kSecond);
  const MessageSpan buffer{span.packed, first->end, second ? second->at : span.to};
  for (const Pattern* pattern : {&kSource, &kShape}) {
    if (const auto match = buffer.find(*pattern)) pattern->fill(*match, message);
  }
}

}  // namespace

// TensorFlow's gpu_device.cc: the memory that it gives a device's allocator, in MB of 2^20 bytes.
MessageKind tf_device_message() {
  return {.name = "tf-device",
          .detail = "TensorFlow's line of a device that it created",
          .starts = {"Created device {*}GPU:{gpu} with {limit:MiB} MB memory",
                     "Created TensorFlow device ({*}GPU:{gpu} with {limit:MiB} MB memory"}};
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
