#include <fmt/format.h>

#include "trace/json/json_writer.hpp"
#include "trace/torch/torch_writer.hpp"
#include "trace/writer.hpp"

namespace memreplay {
namespace {

Losses said(const JsonLosses& losses) {
  Losses phrases;
  const auto add = [&](std::uint64_t count, const char* what, const char* fate) {
    if (count == 0) return;
    phrases.push_back(fmt::format("JSON cannot hold {} ({} here); {}", what, count, fate));
  };
  add(losses.byte_strings, "byte strings", "they are texts, a character below U+0100 a byte");
  add(losses.texts, "texts that are no UTF-8", "the bytes in question are U+FFFD");
  add(losses.keys, "keys other than texts", "they are texts");
  add(losses.numbers, "infinite or undefined numbers", "they are null");
  return phrases;
}

Losses write_value(const std::function<void(ValueWriter&)>& content, std::ostream& out) {
  JsonWriter writer(out);
  content(writer);
  return said(writer.losses());
}

Losses write(const Recording& recording, std::ostream& out) {
  return write_value([&](ValueWriter& writer) { write_torch_snapshot(recording, writer); }, out);
}

}  // namespace

WriterInfo torch_json_writer() {
  return {.format = "json",
          .name = "JSON",
          .suffix = ".json",
          .write = write,
          .write_value = write_value};
}

}  // namespace memreplay
