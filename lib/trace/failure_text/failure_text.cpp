#include "trace/failure_text/failure_text.hpp"

#include <optional>

#include "core/error.hpp"
#include "trace/failure_text/reports.hpp"

namespace memreplay {
namespace {

std::optional<ToldFailure> told_by(std::string_view text) {
  // JAX's own error stands beside the report of its allocator, PyTorch's beside a table.
  auto told = told_by_torch(text);
  return told ? told : told_by_bfc(text);
}

std::string_view detail_of(ToldFailure::Source source) {
  switch (source) {
    case ToldFailure::Source::bfc:
      return "the failure report of a BFC allocator";
    case ToldFailure::Source::torch_message:
      return "PyTorch's message that memory ran out";
    default:
      return "a table of torch.cuda.memory_summary()";
  }
}

}  // namespace

ReaderInfo failure_text_reader() {
  return {.name = "failure-text",
          .summary =
              "What an allocator said when memory ran out, pasted from a log; for explain alone: a "
              "BFC report, PyTorch's message or memory_summary().",
          .recognises = [](const Input& input) { return told_by(input.bytes).has_value(); },
          .read =
              [](const Input& input, const ReadOptions&) {
                Recording recording;
                recording.path = input.name;
                recording.format = "failure-text";
                recording.told = told_by(input.bytes);
                if (!recording.told) {
                  throw InputError(input.name, "",
                                   "says nothing of memory that ran out; expected the report of a "
                                   "BFC allocator, PyTorch's message or memory_summary()");
                }
                recording.detail = detail_of(recording.told->source);
                return recording;
              },
          .is_text = true};
}

}  // namespace memreplay
