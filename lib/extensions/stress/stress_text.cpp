#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "extensions/stress/stress_report.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/sentences.hpp"
#include "report/parts/shared_sentences.hpp"

namespace memreplay {
namespace {

std::string signed_size(std::int64_t bytes) {
  const std::string size = human_size(static_cast<Bytes>(std::abs(bytes)));
  return bytes < 0 ? "-" + size : size;
}

/// "3.1 %"
std::string share_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

/// " (3.1 %)"; empty where there is nothing to be a share of.
std::string share_in_brackets(std::int64_t part, Bytes whole) {
  if (whole == 0) return {};
  return " (" + share_text(static_cast<double>(part) / static_cast<double>(whole)) + ")";
}

/// Never more than it is: "99 %", "63.2 %".
std::string confidence_text(double confidence) {
  const double tenths = std::floor(1000 * confidence) / 10;
  return tenths == std::floor(tenths) || tenths >= 99 ? fmt::format("{:.0f} %", std::floor(tenths))
                                                      : fmt::format("{:.1f} %", tenths);
}

std::string of_orders(std::uint64_t some, std::uint64_t all) {
  return fmt::format("{} of {} orders ({})", human_count(some), human_count(all),
                     share_text(static_cast<double>(some) / static_cast<double>(all)));
}

/// On a device that may be full.
std::string room_sentence(const StressRun& run, Bytes capacity) {
  const StressMargin& margin = *run.margin;
  const std::string some = run.orders_with_oom == 0
                               ? fmt::format("None of {} orders runs", human_count(run.orders))
                               : of_orders(run.orders_with_oom, run.orders) +
                                     (run.orders_with_oom == 1 ? " runs" : " run");
  return fmt::format(
      "{} out of memory on a device of {}: 99.9 % of orders do not and stay within {}, with {} "
      "confidence.",
      some, human_size(capacity), human_size(margin.peak_reserved),
      confidence_text(margin.confidence));
}

/// The answer, of one strategy.
std::string margin_sentence(const StressRun& run, const DeviceSummary& device) {
  if (run.orders == 0) return {};
  const Bytes recorded = run.recorded.metrics.peak_reserved;
  if (!run.margin) {
    return fmt::format("{} run out of memory{}{}.", of_orders(run.orders_with_oom, run.orders),
                       device.capacity ? " on a device of " + human_size(*device.capacity) : "",
                       run.recorded.metrics.ooms > 0 ? ", as the recorded one does" : "");
  }
  if (device.capacity) return room_sentence(run, *device.capacity);
  const StressMargin& margin = *run.margin;
  const std::string confidence = confidence_text(margin.confidence);
  if (margin.over_recorded <= 0) {
    return fmt::format(
        "No margin is needed over the recorded peak ({}): 99.9 % of orders stay within {}, with {} "
        "confidence.",
        human_size(recorded), human_size(margin.peak_reserved), confidence);
  }
  return fmt::format(
      "A margin of {}{} over the recorded peak ({}) is enough for 99.9 % of orders, with {} "
      "confidence.",
      signed_size(margin.over_recorded), share_in_brackets(margin.over_recorded, recorded),
      human_size(recorded), confidence);
}

std::string answer_sentence(const StressedDevice& stressed) {
  if (stressed.runs.empty()) return {};
  const std::string sentence = margin_sentence(stressed.runs.front(), stressed.device);
  if (stressed.runs.size() == 1 || sentence.empty()) return sentence;
  return stressed.runs.front().recorded.strategy + ": " + sentence;
}

std::string steps_phrase(const StressedSteps& steps) {
  const std::string count = human_count(steps.steps);
  switch (steps.from) {
    case StepsFrom::markers:
      return count + " steps, taken from markers";
    case StepsFrom::annotations:
      return count + " steps, taken from annotations";
    case StepsFrom::repetition:
      return count + " steps, taken from requests that repeat";
    case StepsFrom::quiet:
      return count + " parts between moments with little live memory (it has no steps)";
    case StepsFrom::count:
      return count + " parts of as many events each";
    case StepsFrom::nowhere:
      break;
  }
  return {};
}

std::string others_phrase(const StressedSteps& steps) {
  if (steps.others == 0) return {};
  return fmt::format(", and {} of other recordings", human_count(steps.others));
}

std::string orders_sentence(const StressedDevice& stressed) {
  std::string text = fmt::format(
      "{}{}, are replayed in {} other orders: half are permutations, in the others each step is "
      "drawn at random (--seed {}).",
      steps_phrase(stressed.steps), others_phrase(stressed.steps), human_count(stressed.orders),
      stressed.seed);
  const StressedSteps& steps = stressed.steps;
  if (steps.events_before + steps.events_behind > 0) {
    text += fmt::format(" {} of {} events are in no step: they come first, or at the end.",
                        human_count(steps.events_before + steps.events_behind),
                        human_count(steps.events));
  }
  if (stressed.in_flight > 1) {
    text += fmt::format(" {} of them run at once, their events interleaved at random.",
                        human_count(stressed.in_flight));
  }
  return text;
}

std::string blocks_text(std::uint64_t blocks, Bytes bytes) {
  return fmt::format("{} ({})", counted(blocks, "block"), human_size(bytes));
}

/// The rules for what concerns more than one step.
std::vector<std::string> rules(const StressedSteps& steps) {
  std::vector<std::string> sentences;
  if (steps.last_stays) {
    sentences.emplace_back(
        "The last step stays last: the recording does not show when its blocks are freed.");
  }
  if (steps.crossing_blocks > 0) {
    sentences.push_back(fmt::format(
        "{} outlive{} the step that requested them: freed as many steps later as recorded.",
        blocks_text(steps.crossing_blocks, steps.crossing_bytes),
        steps.crossing_blocks == 1 ? "s" : ""));
  }
  if (steps.lasting_blocks > 0) {
    sentences.push_back(
        fmt::format("{} allocated in a step {} never freed: each is allocated once, at its "
                    "position in the order, whichever step is there.",
                    blocks_text(steps.lasting_blocks, steps.lasting_bytes),
                    steps.lasting_blocks == 1 ? "is" : "are"));
  }
  std::vector<std::string> left_out;
  if (steps.frontiers > 0) left_out.push_back(counted(steps.frontiers, "safe frontier"));
  if (steps.pool_ends > 0)
    left_out.push_back(counted(steps.pool_ends, "end") + " of private pools");
  if (steps.unfinished_frees > 0) {
    left_out.push_back(counted(steps.unfinished_frees, "free") + " that never completed");
  }
  if (!left_out.empty()) {
    std::string text = "Left out of the orders: ";
    for (const std::string& what : left_out) text += (&what == &left_out[0] ? "" : ", ") + what;
    sentences.push_back(text + ".");
  }
  return sentences;
}

Table table_of(const StressedDevice& stressed) {
  Table table{{left("strategy"), "recorded", spare("least", 3), "median", spare("99 %", 2),
               "99.9 %", spare("most", 1), "margin", "over live"}};
  if (stressed.device.capacity) table.columns.emplace_back("OOM");
  for (const StressRun& run : stressed.runs) {
    const bool played = run.orders > 0;
    const auto cell = [&](Bytes bytes) { return played ? human_size(bytes) : std::string("-"); };
    const std::optional<StressMargin>& margin = run.margin;
    table.add(run.recorded.strategy + mark(run.recorded),
              human_size(run.recorded.metrics.peak_reserved), cell(run.reserved.least),
              cell(run.reserved.median), cell(run.reserved.p99),
              margin ? human_size(margin->peak_reserved) : "-", cell(run.reserved.most),
              margin ? signed_size(margin->over_recorded) : "-",
              margin ? signed_size(margin->over_live) : "-");
    if (!stressed.device.capacity) continue;
    table.rows.back().back() =
        played
            ? share_text(static_cast<double>(run.orders_with_oom) / static_cast<double>(run.orders))
            : "-";
  }
  return table;
}

/// What is live differs where blocks of one step live on into others, or steps are missing.
std::string live_sentence(const StressRun& run, bool several) {
  if (run.orders == 0) return {};
  const Bytes recorded = run.recorded.metrics.peak_requested;
  const bool same = run.live.least == recorded && run.live.most == recorded;
  const std::string live =
      same ? fmt::format("{}, in every order", human_size(recorded))
           : fmt::format("{}, {} in the recorded order",
                         range_text({run.live.least, run.live.most}), human_size(recorded));
  if (!run.margin) return fmt::format("Live at their peaks: {}.", live);
  return fmt::format("{}ver live memory at its peak ({}), the margin of an order is {}{}.",
                     several ? run.recorded.strategy + ": o" : "O", live,
                     signed_size(run.margin->over_live),
                     same ? share_in_brackets(run.margin->over_live, recorded) : "");
}

/// Where the blocks alone do not do what the recording does.
std::string difference_sentence(const StressRun& run) {
  const Bytes recorded = run.recorded.metrics.peak_reserved;
  if (run.recorded_order == recorded || run.orders == 0) return {};
  return fmt::format(
      "{}: the recorded order, replayed from its steps like the others, reserves {} instead of {}.",
      run.recorded.strategy, human_size(run.recorded_order), human_size(recorded));
}

std::string confidence_sentence(const StressedDevice& stressed) {
  if (stressed.runs.empty() || !stressed.runs.front().margin) return {};
  if (stressed.runs.front().margin->confidence >= kStressConfidence) return {};
  return fmt::format("{} orders are few: use --orders {} for {} confidence.",
                     human_count(stressed.runs.front().orders), kFewestOrders,
                     confidence_text(kStressConfidence));
}

std::string head(const StressedDevice& stressed, bool several) {
  const std::string model =
      model_sentence({stressed.trace, stressed.device, {}, stressed.model_check});
  return stressed.trace.path + (several ? " " + gpu_label(stressed.trace.gpu) : "") + ": " +
         coverage_phrase(stressed.trace) + (model.empty() ? "" : "; ") + model;
}

std::string nothing_to_order_sentence(const StressedDevice& stressed) {
  if (stressed.nothing_requested) return nothing_requested_sentence(stressed.trace);
  return fmt::format(
      "{} has no two steps that could be reordered{}: steps come from markers, annotations or "
      "requests that repeat; --step N makes a step of every N events.",
      stressed.trace.path,
      stressed.steps.last_stays
          ? " (the last one stays: the recording does not show when its blocks are freed)"
          : "");
}

void append_notes(Sheet& out, const StressedDevice& stressed) {
  for (const StressRun& run : stressed.runs) {
    append_paragraph(out, live_sentence(run, stressed.runs.size() > 1));
  }
  for (const StressRun& run : stressed.runs) append_paragraph(out, difference_sentence(run));
  for (const std::string& sentence : rules(stressed.steps)) append_paragraph(out, sentence);
  std::vector<Run> recorded;
  for (const StressRun& run : stressed.runs) recorded.push_back(run.recorded);
  for (const std::string& sentence : inexact_sentences(recorded)) append_paragraph(out, sentence);
  append_paragraph(out, confidence_sentence(stressed));
}

/// Names the recording that needs the largest margin.
void append_largest(Sheet& out, const std::vector<StressedDevice>& devices) {
  const StressedDevice* largest = nullptr;
  std::size_t known = 0;
  for (const StressedDevice& stressed : devices) {
    if (stressed.runs.empty() || !stressed.runs.front().margin) continue;
    ++known;
    const auto margin = [](const StressedDevice& one) {
      return one.runs.front().margin->over_recorded;
    };
    if (largest == nullptr || margin(stressed) > margin(*largest)) largest = &stressed;
  }
  if (known < 2) return;
  out += '\n';
  append_paragraph(out, fmt::format("worst: {} {}. {}", largest->trace.path,
                                    gpu_label(largest->trace.gpu), answer_sentence(*largest)));
}

}  // namespace

std::string nothing_to_order_sentence(const StressAnswer& answer) {
  if (answer.devices.empty()) return "no recording has a device to stress";
  return nothing_to_order_sentence(answer.devices.front());
}

std::string to_text(const StressAnswer& answer, const TextStyle& style) {
  const std::vector<StressedDevice>& devices = answer.devices;
  Sheet out(style);
  for (const StressedDevice& stressed : devices) {
    if (!stressed.has_orders()) {
      append_paragraph(out, nothing_to_order_sentence(stressed));
    } else {
      append_paragraph(out, answer_sentence(stressed));
      out += '\n';
      append_paragraph(out, head(stressed, devices.size() > 1));
      append_paragraph(out, lower_bounds_sentence(stressed.trace));
      append_paragraph(out, orders_sentence(stressed));
      append_paragraph(out, capacity_sentence(stressed.device));
      out += '\n';
      append_table(out, table_of(stressed));
      out += '\n';
      append_notes(out, stressed);
    }
    if (&stressed != &devices.back()) out += '\n';
  }
  append_largest(out, devices);
  if (answer.interrupted) {
    out += '\n';
    append_paragraph(out, "Interrupted: this answer is incomplete.");
  }
  return out.text();
}

}  // namespace memreplay
