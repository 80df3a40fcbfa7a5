#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/text.hpp"
#include "extensions/planner/plan/plan_report.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kNamesShown = 40;

std::string proof_phrase(const PlannedDevice& device) {
  if (device.optimal()) return "proved optimal";
  const auto above = static_cast<double>(*device.height - device.lower_bound);
  return fmt::format("within {:.2g} % of the optimum",
                     100 * above / static_cast<double>(device.lower_bound));
}

// "lower bound 46.1 GiB, planned 46.1 GiB (proved optimal), torch reserves 54.6 GiB"
std::string heights_sentence(const PlannedDevice& device) {
  std::string text = device.trace.early_end
                         ? fmt::format("At least: {}; ", early_end_phrase(*device.trace.early_end))
                         : std::string();
  text += fmt::format("lower bound {}, planned {} ({})", human_size(device.lower_bound),
                      human_size(*device.height), proof_phrase(device));
  if (!device.run) return text;
  return text + fmt::format(", {} reserves {}", device.run->strategy, reserved_text(*device.run));
}

std::string culprits_sentence(const PlannedDevice& device) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(device.cannot.size(), kNamesShown); ++i) {
    names.push_back(device.buffers[device.cannot[i]].name);
  }
  const std::size_t more = device.cannot.size() - names.size();
  if (device.cannot.size() == 1)
    return fmt::format("Buffer {} does not fit even alone.", names.front());
  const char* needed = device.each_needed
                           ? "without any one of them the others fit"
                           : "time ran out before it was known whether each is needed";
  return fmt::format("These {} cannot be placed together, and {}: {}{}.",
                     counted(device.cannot.size(), "buffer"), needed, fmt::join(names, ", "),
                     more == 0 ? "" : fmt::format(" and {} more (--json has all)", more));
}

std::string names_of(const std::vector<FilledMemory>& memories) {
  std::vector<std::string> names;
  for (const FilledMemory& memory : memories) {
    names.push_back(fmt::format("{} ({})", memory.name, exact_size(memory.capacity)));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// "All fits: npu 60 KiB of 64 KiB in 3 buffers, dram 2 MiB of 8 MiB in 12 buffers."
std::string filled_sentence(const std::vector<FilledMemory>& memories) {
  std::vector<std::string> filled;
  for (const FilledMemory& memory : memories) {
    filled.push_back(fmt::format("{} {} of {} in {}", memory.name, human_size(memory.height),
                                 human_size(memory.capacity), counted(memory.buffers, "buffer")));
  }
  return fmt::format("All fits: {}.", fmt::join(filled, ", "));
}

std::string refusal_of_memories(const PlannedDevice& device) {
  const std::string names = names_of(device.memories);
  if (!device.cannot.empty()) {
    const PlannedBuffer& large = device.buffers[device.cannot.front()];
    return fmt::format("No plan fits: buffer {} of {} is larger than each of {}.", large.name,
                       exact_size(large.size), names);
  }
  if (device.impossible) {
    return fmt::format("No plan fits in {}: {} are live at once.", names,
                       exact_size(device.lower_bound));
  }
  return fmt::format(
      "No plan for {} was found in {:.3g} s; there may be one ({} are live at once).", names,
      device.seconds, exact_size(device.lower_bound));
}

std::string refusal(const PlannedDevice& device) {
  if (device.verified) {
    const std::string& first = device.buffers[device.cannot.front()].name;
    if (device.cannot.size() == 1) {
      return fmt::format("The plan is not sound: buffer {} lies at {}, which is no multiple of {}.",
                         first, device.buffers[device.cannot.front()].offset, device.alignment);
    }
    return fmt::format("The plan is not sound: buffers {} and {} overlap.", first,
                       device.buffers[device.cannot.back()].name);
  }
  if (device.impossible && device.lower_bound <= device.capacity.value_or(device.lower_bound)) {
    return "No plan fits: the given offsets contradict each other.";
  }
  if (!device.capacity) {
    return fmt::format(
        "No plan was found in {:.3g} s; there may be one (lower bound {}). Try: --timeout SECONDS",
        device.seconds, exact_size(device.lower_bound));
  }
  const std::string capacity = exact_size(*device.capacity);
  if (device.impossible) {
    return fmt::format("No plan fits in {}: the lower bound is {}.", capacity,
                       exact_size(device.lower_bound));
  }
  return fmt::format(
      "No plan within {} was found in {:.3g} s; there may be one (lower bound {}). Try: --timeout "
      "SECONDS",
      capacity, device.seconds, exact_size(device.lower_bound));
}

std::string about(const PlannedDevice& device) {
  std::string text =
      fmt::format("{}: {}", device.trace.path, counted(device.buffers.size(), "buffer"));
  if (device.alignment > 1) {
    text += fmt::format(", sizes and offsets in multiples of {}", exact_size(device.alignment));
  }
  if (device.height && device.memories.empty()) text += "; found by " + device.found_by;
  return text + ".";
}

std::string step_sentence(const PlannedStep& step) {
  std::string text =
      fmt::format("{:.3g} % of its requests repeat: {} steps of {}", 100 * step.share,
                  human_count(step.steps), counted(step.requests, "request"));
  if (!step.height) return text + ".";
  return text + fmt::format("; one plan that serves every step: {} (lower bound {}).",
                            human_size(*step.height), human_size(step.lower_bound));
}

std::string headline(const PlannedDevice& device) {
  if (device.memories.empty()) return device.height ? heights_sentence(device) : refusal(device);
  return device.height ? filled_sentence(device.memories) : refusal_of_memories(device);
}

void append_device(Sheet& out, const PlannedDevice& device) {
  if (device.nothing_requested) {
    append_paragraph(out, nothing_requested_sentence(device.trace));
    return;
  }
  append_paragraph(out, headline(device));
  const bool one_memory = device.memories.empty();
  if (!device.cannot.empty() && one_memory && !device.verified)
    append_paragraph(out, culprits_sentence(device));
  out += '\n';
  append_paragraph(out, about(device));
  if (device.height && !one_memory) {
    append_paragraph(out, fmt::format("Each memory is filled with the largest and longest-lived "
                                      "buffers first ({}), and the next one takes the rest.",
                                      device.found_by));
  }
  if (device.left_out != 0) {
    append_paragraph(out, fmt::format("{} left out, too large for any device.",
                                      counted(device.left_out, "request")));
  }
  if (device.step) append_paragraph(out, step_sentence(*device.step));
  if (device.run) {
    if (!device.run->exact) append_paragraph(out, inexact_sentence(*device.run));
    append_paragraph(
        out,
        "A plan knows the future, which no running program does: it is a goal, not an allocator.");
  }
}

}  // namespace

std::string to_text(const PlanAnswer& answer, const TextStyle& style) {
  Sheet out(style);
  for (const PlannedDevice& device : answer.devices) {
    if (!out.empty()) out += '\n';
    append_device(out, device);
  }
  if (answer.interrupted) {
    out += '\n';
    append_paragraph(out, "Interrupted: this is the best plan so far.");
  }
  return out.text();
}

void write_placements(const PlannedDevice& device, std::ostream& out) {
  const bool several = !device.memories.empty();
  out << (several ? "id,lower,upper,size,offset,memory\n" : "id,lower,upper,size,offset\n");
  if (!device.height) return;
  for (const PlannedBuffer& buffer : device.buffers) {
    out << fmt::format("{},{},{},{},{}{}{}\n", buffer.name, buffer.lower, buffer.upper, buffer.size,
                       buffer.offset, several ? "," : "",
                       several ? device.memories[buffer.memory].name : "");
  }
}

}  // namespace memreplay
