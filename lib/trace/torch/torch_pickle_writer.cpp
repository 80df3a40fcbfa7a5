#include <fmt/format.h>

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
  PickleWriter writer(out, PickleWriter::NoUtf8::replaced);
  write_torch_snapshot(recording, writer);
  if (writer.replaced_texts() == 0) return {};
  return {
      fmt::format("a snapshot cannot hold texts that are no UTF-8 ({} here); the bytes in question "
                  "are U+FFFD",
                  writer.replaced_texts())};
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
