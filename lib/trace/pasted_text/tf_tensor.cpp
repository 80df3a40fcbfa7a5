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

}  // namespace

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

}  // namespace memreplay
