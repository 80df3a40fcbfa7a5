#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <span>

#include "core/text.hpp"
#include "extensions/what_if/suggest/suggest_report.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/sentences.hpp"

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

/// "2nd", "4th": not of more than 20.
std::string ordinal(std::uint32_t number) {
  return fmt::format("{}{}", number, number == 2 ? "nd" : number == 3 ? "rd" : "th");
}

/// Modules of a package, whose code nobody edits: found by a line of their forward.
std::vector<std::string> layers_lines(const SuggestedEdit& edit) {
  const std::string lines = lines_text(edit.code);
  const std::size_t colon = lines.rfind(':');
  const std::string first = lines.substr(colon + 1, lines.find('-', colon) - colon - 1);
  return {
      "def is_layer(module):", "    code = inspect.unwrap(type(module).forward).__code__",
      fmt::format("    return code.co_filename.endswith(\"{}\") and {} in [line for *_, line in "
                  "code.co_lines()]",
                  lines.substr(0, colon), first),
      fmt::format("for layer in [m for m in model.modules() if is_layer(m)]{}:",
                  edit.only > 1 ? fmt::format("[::{}]", edit.only) : "")};
}

/// "the modules of torchvision with forward (vision_transformer.py:110-118)"
std::string modules_text(const SuggestedEdit& edit) {
  return fmt::format(
      "{} of {} with {}",
      edit.only > 1 ? fmt::format("every {} of the modules", ordinal(edit.only)) : "the modules",
      edit.package, function_text(edit));
}

bool is_module_of_package(const SuggestedEdit& edit) {
  return !edit.package.empty() && edit.function == "forward";
}

CodeChange of_package(const SuggestedEdit& edit, const std::string& what,
                      const std::vector<std::string>& before, const std::string& wrapped) {
  CodeChange change{fmt::format("{} {}", what, modules_text(edit)), {"import functools, inspect"}};
  change.python.insert(change.python.end(), before.begin(), before.end());
  for (std::string& line : layers_lines(edit)) change.python.push_back(std::move(line));
  change.python.push_back(fmt::format("    layer.forward = {}", wrapped));
  return change;
}

CodeChange checkpointing(const SuggestedEdit& edit) {
  const std::string import = "from torch.utils.checkpoint import checkpoint";
  if (is_module_of_package(edit)) {
    return of_package(edit, "checkpoint", {import},
                      "functools.partial(checkpoint, layer.forward, use_reentrant=False)");
  }
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
  if (is_module_of_package(edit)) {
    return of_package(edit, "move to the host, and back for the backward pass, what is saved by",
                      {import, "def moved(forward, *given, **named):", "    with save_on_cpu():",
                       "        return forward(*given, **named)"},
                      "functools.partial(moved, layer.forward)");
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

constexpr std::size_t kRows = 10;

std::size_t rows_of(const SuggestedDevice& device) {
  return std::min(device.suggestions.size(), kRows);
}

std::string edits_text(const Suggestion& s) {
  std::string text;
  for (const SuggestedEdit& edit : s.edits) text += (text.empty() ? "" : " ") + edit.text;
  return text.empty() ? "nothing" : text;
}

std::string price_text(const Suggestion& s) {
  std::vector<std::string> parts;
  if (s.recomputed > 0) parts.push_back(human_size(s.recomputed) + " computed again");
  if (s.moved > 0) parts.push_back(human_size(s.moved) + " moved");
  return parts.empty() ? std::string("no cost") : fmt::format("{}", fmt::join(parts, ", "));
}

bool cut(const SuggestedDevice& device) { return device.rest == RestOfStep::unknown; }

/// The one that the first sentence is about: the first, or where none is served the least. Null:
/// none.
const Suggestion* told_of(const SuggestedDevice& device) {
  if (device.suggestions.empty()) return nullptr;
  if (device.suggestions.front().serves) return &device.suggestions.front();
  return &*std::ranges::min_element(device.suggestions, {}, &Suggestion::peak_reserved);
}

std::string reserved_text(const Suggestion& s) {
  if (s.at_least) {
    return bounded(human_size(s.interval ? s.interval->peak_reserved.low : s.peak_reserved), true);
  }
  return s.interval ? estimated_text(s.peak_reserved, s.interval->peak_reserved)
                    : human_size(s.peak_reserved);
}

std::string for_price(const Suggestion& s) {
  return s.price() > 0 ? ", for " + price_text(s) : std::string();
}

/// "The lowest peak is 5184 MiB, unchanged, under recorded."
std::string least_sentence(const Suggestion& least) {
  const std::string size = bounded(human_size(least.peak_reserved), least.at_least);
  if (least.edits.empty()) {
    return fmt::format("The lowest peak is {}, unchanged, under {}.", size, least.strategy);
  }
  return fmt::format("The lowest peak is {}, with {} under {}, for {}.", size, edits_text(least),
                     least.strategy, price_text(least));
}

/// What is known where the recording ends before the program does.
std::string cut_sentence(const SuggestedDevice& device, const Suggestion& told) {
  const std::string budget = human_size(device.device.capacity.value_or(0));
  const std::string why = early_end_phrase(*device.trace.early_end);
  if (told.fits == false) {
    return fmt::format("None of {} tried serves what was recorded on {}. {}",
                       counted(device.tried, "way"), budget, least_sentence(told));
  }
  return fmt::format(
      "{} serves what was recorded on {} under {}: {} reserved{}. More is unknown: {}.",
      told.edits.empty() ? "The program as it is" : edits_text(told), budget, told.strategy,
      reserved_text(told), for_price(told), why);
}

std::string first_sentence(const SuggestedDevice& device) {
  const Suggestion* told = told_of(device);
  const std::string budget = human_size(device.device.capacity.value_or(0));
  if (told != nullptr && cut(device)) return cut_sentence(device, *told);
  if (told == nullptr || told->fits == false) {
    const std::string none =
        fmt::format("None of {} tried fits {}.", counted(device.tried, "way"), budget);
    return told == nullptr ? none : none + ' ' + least_sentence(*told);
  }
  const std::string rest = device.rest == RestOfStep::as_before
                               ? ", if the unfinished step continues like the one before"
                               : "";
  if (!told->fits) {
    return fmt::format(
        "Unknown: {} needs {} of {} under {}{}, and the rest of that step may need "
        "more.",
        told->edits.empty() ? "the program as it is" : edits_text(*told), reserved_text(*told),
        budget, told->strategy, rest);
  }
  if (told->edits.empty()) {
    return fmt::format("It fits {} as it is, under {}: {} reserved at most{}.", budget,
                       told->strategy, human_size(told->peak_reserved), rest);
  }
  return fmt::format(
      "{} fits {} under {}: {} reserved at most{}, for {}{}.", edits_text(*told), budget,
      told->strategy, human_size(told->peak_reserved),
      told->retries > 0
          ? ", after " + (told->retries == 1 ? "1 retry" : human_count(told->retries) + " retries")
          : "",
      price_text(*told), rest);
}

std::string fits_text(const Suggestion& s) { return !s.fits ? "unknown" : *s.fits ? "yes" : "no"; }

Table table_of(const SuggestedDevice& device) {
  // Where the recording ends early it is not known of any.
  Table table{{left("edit"), left("strategy"), cut(device) ? "enough" : "fits", "reserved", "saved",
               "computed again", "moved", "saved/byte"}};
  for (const Suggestion& s : std::span(device.suggestions).first(rows_of(device))) {
    const double worth =
        s.price() > 0 ? static_cast<double>(s.saved) / static_cast<double>(s.price()) : 0;
    table.add(edits_text(s), s.strategy, fits_text(s), reserved_text(s), human_size(s.saved),
              human_size(s.recomputed), human_size(s.moved),
              s.price() > 0 ? fmt::format("{:.2f}", worth) : "-");
  }
  return table;
}

std::string beyond_sentence(const SuggestedDevice& device) {
  if (device.rest == RestOfStep::as_before) {
    const bool open =
        std::ranges::any_of(device.suggestions, [](const auto& s) { return !s.fits; });
    return fmt::format(
        "The recording ends at its failure. The rest of that step is assumed to be like the step "
        "before{}.",
        open ? ", give or take 3 %: within that it is unknown" : "");
  }
  const Suggestion* told = told_of(device);
  if (!cut(device) || told == nullptr || told->still_to_come == 0) return {};
  return fmt::format(
      "{} are set aside for the rest of that step: gradients, optimizer state (--optimizer; the "
      "parameters are {}), and what is recomputed at a time.",
      human_size(told->still_to_come), human_size(device.parameters));
}

std::string layers_sentence(const SuggestedDevice& device) {
  if (device.layers > 0) return {};
  return "No stack shows code that runs several times in a forward pass and saves something: there "
         "is nothing to checkpoint. Record with stacks (stacks=\"python\").";
}

std::string settings_sentence(const SuggestedDevice& device) {
  const SearchedSettings& settings = device.settings;
  if (settings.programs == 0) return {};
  std::string text = fmt::format(
      "Where the usual settings were not enough: tried {} more settings of PyTorch's allocator for "
      "{} of these changes.",
      human_count(settings.tried), human_count(settings.programs));
  if (settings.left > 0) {
    text += fmt::format(" {} may fit under a setting that was not tried.",
                        counted(settings.left, "more way"));
  }
  return text;
}

std::string try_sentence(const SuggestedDevice& device) {
  const Suggestion* best = told_of(device);
  if (best == nullptr || !best->serves || best->edits.empty()) return {};
  std::string command = "memreplay report " + device.trace.path;
  for (const SuggestedEdit& edit : best->edits) command += fmt::format(" --edit '{}'", edit.text);
  return fmt::format("To see it:\n{} -s {} -o F.html", command, shell_word(best->strategy));
}

bool fits_as_it_is(const SuggestedDevice& device) {
  const Suggestion* told = told_of(device);
  return told != nullptr && told->fits == true && told->edits.empty();
}

std::string no_change_sentence(const SuggestedDevice& device) {
  if (!fits_as_it_is(device)) return {};
  const Bytes reserved = told_of(device)->peak_reserved;
  return fmt::format(
      "The program need not change. For changes by which it needs less, name less than {} as "
      "--budget.",
      human_size(reserved));
}

// The table's suggestions that are served; where none is, the least one. None where the program
// fits as it is.
std::vector<const Suggestion*> shown_of(const SuggestedDevice& device) {
  std::vector<const Suggestion*> shown;
  if (fits_as_it_is(device)) return shown;
  for (const Suggestion& s : std::span(device.suggestions).first(rows_of(device))) {
    if (s.serves) shown.push_back(&s);
  }
  if (shown.empty() && told_of(device) != nullptr) shown.push_back(told_of(device));
  return shown;
}

// What to write for each of their edits.
void append_changes(Sheet& out, const SuggestedDevice& device) {
  std::set<std::string> written;
  for (const Suggestion* s : shown_of(device)) {
    for (const SuggestedEdit& edit : s->edits) {
      if (!written.insert(edit.text).second) continue;
      const CodeChange change = code_change(edit);
      std::string text = fmt::format("{}: {}:", edit.text, change.what);
      for (const std::string& line : change.python) text += "\n" + line;
      out += '\n';
      append_paragraph(out, text);
    }
  }
}

void append_remarks(Sheet& out, const SuggestedDevice& device) {
  std::set<std::string> told;
  for (const Suggestion* s : shown_of(device)) {
    for (const std::string& remark : s->remarks) {
      if (told.insert(remark).second) append_paragraph(out, remark);
    }
  }
}

// The line to paste, of a setting that was searched.
std::string line_to_set(const SuggestedDevice& device, const TextStyle& style) {
  const Suggestion* best = told_of(device);
  if (best == nullptr || !best->serves || best->conf.empty()) return {};
  return fmt::format(
      "\n {}\n",
      bold(fmt::format("export {}={}", device.settings.variable, shell_word(best->conf)), style));
}

}  // namespace

std::string to_text(const SuggestAnswer& answer, const TextStyle& style) {
  Sheet out(style);
  for (const SuggestedDevice& device : answer.devices) {
    if (&device != &answer.devices.front()) out += '\n';
    if (device.nothing_requested) {
      append_paragraph(out, nothing_requested_sentence(device.trace));
      continue;
    }
    out += ' ' + bold(wrapped(first_sentence(device), 1, style.width), style) + "\n\n";
    append_paragraph(out, device.trace.path + ": " + coverage_phrase(device.trace));
    if (device.device.capacity_from != CapacityFrom::option) {
      append_paragraph(out,
                       "The budget is the device of the recording; --budget SIZE sets another.");
    }
    out += '\n';
    append_table(out, table_of(device));
    if (device.suggestions.size() > kRows) {
      append_paragraph(out, fmt::format("{} more edits were tried; --json has them.",
                                        human_count(device.suggestions.size() - kRows)));
    }
    append_changes(out, device);
    Sheet below(style);
    append_remarks(below, device);
    append_paragraph(below, no_change_sentence(device));
    append_paragraph(below, settings_sentence(device));
    append_paragraph(below, beyond_sentence(device));
    if (cut(device)) append_paragraph(below, whole_recording_sentence(device.trace));
    append_paragraph(below, layers_sentence(device));
    append_paragraph(below, try_sentence(device));
    if (!below.empty()) out += '\n' + below.text();
    out += line_to_set(device, style);
  }
  if (answer.interrupted) {
    out += '\n';
    append_paragraph(out, "Interrupted: this answer is incomplete.");
  }
  return out.text();
}

CodeChange code_change(const SuggestedEdit& edit) {
  return edit.kind == SuggestedEdit::Kind::checkpoint ? checkpointing(edit) : offloading(edit);
}

}  // namespace memreplay
