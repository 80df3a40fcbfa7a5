#include "trace/pickle/pickle_writer.hpp"
#include "trace/torch/torch_writer.hpp"
#include "trace/writer.hpp"

namespace memreplay {
namespace {

Losses write_value(const std::function<void(ValueWriter&)>& content, std::ostream& out) {
  PickleWriter writer(out);
  content(writer);
  return {};
}

Losses write(const Recording& recording, std::ostream& out) {
  return write_value([&](ValueWriter& writer) { write_torch_snapshot(recording, writer); }, out);
}

}  // namespace

WriterInfo torch_pickle_writer() {
  return {.format = "pickle",
          .name = "pickle",
          .suffix = ".pickle",
          .write = write,
          .write_value = write_value};
}

}  // namespace memreplay
