#include "report/parts/paragraphs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/text.hpp"
#include "report/parts/escapes.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

bool is_npu(const TraceSummary& trace) {
  return trace.settings_variable == "PYTORCH_NPU_ALLOC_CONF" || trace.request_padding > 0;
}

void append_markdown(Sheet& out, std::string_view text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  out += markdown_text(text.substr(0, end));
  for (text.remove_prefix(end); !text.empty();) {
    text.remove_prefix(1);
    const std::size_t length = std::min(text.find('\n'), text.size());
    out += '\n' + markdown_code(text.substr(0, length));
    text.remove_prefix(length);
  }
  out += "\n\n";
}

}  // namespace

void append_paragraph(Sheet& out, std::string_view text, std::size_t indent) {
  if (text.empty()) return;
  if (out.style().markdown) return append_markdown(out, text);
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string margin(indent, ' ');
  out += margin + wrapped(text.substr(0, end), indent, out.width()) + '\n';
  for (text.remove_prefix(end); !text.empty();) {
    text.remove_prefix(1);
    const std::size_t length = std::min(text.find('\n'), text.size());
    out += margin + "  ";
    out += text.substr(0, length);
    out += '\n';
    text.remove_prefix(length);
  }
}

void append_table(Sheet& out, const Table& table) {
  out += out.style().markdown ? markdown_table(table) : text_table(table, out.width());
}

void append_answer_again(Sheet& out, std::string_view answer, std::size_t before) {
  constexpr std::size_t kPrompt = 2;  // and the line of the command itself
  const auto lines = static_cast<std::size_t>(std::ranges::count(out.text(), '\n')) + before;
  if (out.style().height == 0 || lines + kPrompt <= out.style().height) return;
  out += "\n " + bold(wrapped(answer, 1, out.width()), out.style()) + '\n';
}

std::string path_word(std::string_view path) {
  return shell_word(path.starts_with('-') ? "./" + std::string(path) : std::string(path));
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string better_recording(bool larger_before) {
  return larger_before
             ? "record from the start of the program, or include a step of the largest shape."
             : "record from the start of the program, with room for all of its events.";
}

std::string how_to_record(const TraceSummary& trace) {
  const std::string memory = is_npu(trace) ? "torch_npu.npu.memory" : "torch.cuda.memory";
  return fmt::format(
      "record: {}._record_memory_history(max_entries=1000000) before the model is built, "
      "{}._dump_snapshot(\"run.pickle\") after a step or at the failure.",
      memory, memory);
}

std::string leak_sentence(const TraceSummary& trace) {
  const Growth* growth = trace.notable_growth();
  if (growth == nullptr) return {};
  const std::string most =
      growth->places == 1
          ? ""
          : fmt::format(" and {}, most of it there", counted(growth->places - 1, "more call site"));
  return fmt::format("Memory grows by {} a step: {}{}, since step {} (event {}).",
                     human_size(growth->per_step), growth->place, most,
                     human_count(growth->since_step), human_count(growth->first_event));
}

std::string full_sentence(Bytes room, std::uint64_t steps) {
  return fmt::format("At this rate the device of {} is full after {} at the latest.",
                     human_size(room), counted(steps, "more step"));
}

std::string leak_sentences(const TraceSummary& trace, const std::optional<Bytes>& room) {
  std::string said = leak_sentence(trace);
  if (said.empty()) return said;
  if (room) said += ' ' + full_sentence(*room, trace.growth->steps_until_full(*room));
  return said + fmt::format(" No setting mends that: release it after each step{}.",
                            trace.format.starts_with("torch")
                                ? ", or keep a copy on the host (.detach().cpu())"
                                : "");
}

std::string pluggable_pools_phrase(const TraceSummary& trace) {
  std::vector<std::string> names;
  Bytes most = 0;
  for (const PluggablePool& pool : trace.pluggable_pools) {
    names.push_back(fmt::format("({}, {})", pool.id.first, pool.id.second));
    most += pool.most;
  }
  return fmt::format("pool{} {}, up to {}", names.size() == 1 ? "" : "s", fmt::join(names, ", "),
                     human_size(most));
}

std::string pluggable_pools_sentence(const TraceSummary& trace) {
  if (trace.pluggable_pools.empty()) return {};
  return fmt::format(
      "Reserved is an upper bound of what the device held: {}, is memory of a pluggable allocator "
      "(vLLM's sleep mode, torch_memory_saver). It may have slept; the recording does not say "
      "when.",
      pluggable_pools_phrase(trace));
}

std::string other_program_sentence(const std::string& path, const std::optional<Bytes>& capacity) {
  const std::string file = path == "-" ? "oom.pickle" : path_word(path);
  const std::string device = capacity ? size_argument(*capacity) : "24GiB";
  return fmt::format(
      "To change the program instead, find code to checkpoint, or record two batch sizes and ask "
      "for the largest batch:\n"
      "memreplay suggest {} --budget {}\n"
      "memreplay fit --vary batch=4:b4.pickle --vary batch=8:b8.pickle --find batch --capacity {}",
      file, device, device);
}

std::string nothing_requested_sentence(const TraceSummary& trace) {
  const std::string what =
      trace.events == 0 ? "a state without a history" : "a history without requests";
  const std::string lacks = fmt::format(
      "{} is {}: it does not say what the program requests, and in which order.", trace.path, what);
  if (!trace.format.starts_with("torch")) return lacks + " Record one with its allocations.";
  return fmt::format("{} To learn that, {}", lacks, how_to_record(trace));
}

}  // namespace memreplay
