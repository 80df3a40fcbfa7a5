#include "report/suggest/code_change.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace memreplay {
namespace {

constexpr std::size_t kCallsNamed = 3;

/// "models.py:47" of "models.py:47-47".
std::string lines_text(const std::string& code) {
  const std::size_t dash = code.rfind('-');
  const std::size_t colon = code.rfind(':');
  const std::string first = code.substr(colon + 1, dash - colon - 1);
  return code.substr(dash + 1) == first ? code.substr(0, dash) : code;
}

/// "forward (models.py:47-49)"
std::string function_text(const SuggestedEdit& edit) {
  return fmt::format("{} ({})", edit.function, lines_text(edit.code));
}

/// What the lines that call it may name it.
std::string callee(const SuggestedEdit& edit) {
  return edit.function == "forward" ? "layer" : edit.function;
}

/// "models.py:80, models.py:84": where it is called.
std::string calls_text(const SuggestedEdit& edit) {
  if (edit.calls.size() > kCallsNamed) return fmt::format("its {} calls", edit.calls.size());
  return fmt::format("{}", fmt::join(edit.calls, ", "));
}

std::string loop_text(const SuggestedEdit& edit) {
  if (edit.calls.empty()) return "the loop that calls it";
  const std::string what = edit.called_directly ? "the loop" : "a loop in place of the call";
  return fmt::format("{}{} at {}", what, edit.calls.size() == 1 ? "" : "s", calls_text(edit));
}

CodeChange checkpointing(const SuggestedEdit& edit) {
  const std::string import = "from torch.utils.checkpoint import checkpoint";
  const std::string layer = callee(edit);
  const std::string in_place =
      edit.called_directly ? "  # in place of the loop" : "  # in place of the call";
  if (edit.group > 1) {
    return {fmt::format("checkpoint {} successive runs of {} as one, in {}", edit.group,
                        function_text(edit), loop_text(edit)),
            {import, fmt::format("for i in range(0, len(layers), {}):{}", edit.group, in_place),
             fmt::format("    x = checkpoint(torch.nn.Sequential(*layers[i : i + {}]), x, "
                         "use_reentrant=False)",
                         edit.group)}};
  }
  if (edit.only > 1) {
    return {fmt::format("checkpoint run 0, {}, {}, … of {}, in {}", edit.only, 2 * edit.only,
                        function_text(edit), loop_text(edit)),
            {import, "for i, layer in enumerate(layers):" + in_place,
             fmt::format("    x = checkpoint(layer, x, use_reentrant=False) if i % {} == 0 else "
                         "layer(x)",
                         edit.only)}};
  }
  if (edit.calls.size() == 1 && edit.called_directly) {
    return {fmt::format("checkpoint {} where {} calls it", function_text(edit), edit.calls.front()),
            {import, fmt::format("# {}, in place of: x = {}(x)", edit.calls.front(), layer),
             fmt::format("x = checkpoint({}, x, use_reentrant=False)", layer)}};
  }
  return {
      fmt::format("checkpoint every run of {}, by a decorator", function_text(edit)),
      {import,
       "def checkpointed(f): return lambda *a, **k: checkpoint(f, *a, use_reentrant=False, **k)",
       fmt::format("@checkpointed  # right above the def of {}", function_text(edit))}};
}

CodeChange offloading(const SuggestedEdit& edit) {
  const std::string import = "from torch.autograd.graph import save_on_cpu";
  if (edit.code.empty()) {
    return {"move all that the forward pass saves to the host, and back for the backward pass",
            {import, "with save_on_cpu():  # around the forward pass, without backward()",
             "    loss = loss_function(model(x), y)"}};
  }
  const std::string what = fmt::format(
      "move what {} saves to the host, and back for the backward "
      "pass",
      function_text(edit));
  if (edit.calls.size() == 1) {
    return {what,
            {import, fmt::format("with save_on_cpu():  # around {}", edit.calls.front()),
             fmt::format("    x = {}(x)", callee(edit))}};
  }
  return {what,
          {import, fmt::format("with save_on_cpu():  # in {}, around what it does", edit.function),
           fmt::format("    ...  # {}", lines_text(edit.code))}};
}

}  // namespace

CodeChange code_change(const SuggestedEdit& edit) {
  return edit.kind == SuggestedEdit::Kind::checkpoint ? checkpointing(edit) : offloading(edit);
}

}  // namespace memreplay
