#include "questions/check/phrases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

/// A change on a baseline of nothing.
constexpr const char* kIncomparable = "-";

std::string tolerance_phrase(const CheckedMetric& metric, const Tolerance& tolerance) {
  if (tolerance.amount == 0) return {};
  if (!tolerance.relative) return " + " + shown(metric, tolerance.amount);
  return fmt::format(" + {} %", tolerance.text.substr(0, tolerance.text.size() - 1));
}

bool has_interval(const EntryCheck& check) {
  return std::ranges::any_of(check.values,
                             [](const CheckedValue& value) { return value.interval.has_value(); });
}

std::string before_sentence(const EntryCheck& check) {
  constexpr std::array<const char*, 3> kHow = {
      "left out, as when this baseline was written; --update counts {}", "counted",
      "left out: this entry starts from an empty device"};
  const bool one = check.blocks_before == 1;
  const std::string how = fmt::format(
      fmt::runtime(kHow.at(static_cast<std::size_t>(check.from_before))), one ? "it" : "them");
  return fmt::format("{} ({}) from before the recording {} {}.",
                     counted(check.blocks_before, "block"), human_size(check.bytes_before),
                     one ? "is" : "are", how);
}

// "With them: peak reserved 998 MiB."
std::string with_start_sentence(const EntryCheck& check) {
  if (!check.with_start) return {};
  const WithStart& with = *check.with_start;
  const std::string peak = with.interval
                               ? estimated_text(with.peak_reserved, with.interval->peak_reserved)
                               : human_size(with.peak_reserved);
  const std::string why = with.interval ? "the recording starts late" : with.inexact_because;
  return fmt::format("With {}: peak reserved {}{}.",
                     check.blocks_before == 0   ? "memory cached before the recording"
                     : check.blocks_before == 1 ? "it"
                                                : "them",
                     peak, why.empty() ? "" : ": an estimate, " + why);
}

void add_sentence(std::string& text, const std::string& sentence) {
  if (!text.empty() && !sentence.empty()) text += ' ';
  text += sentence;
}

// "The baseline was made by memreplay 0.1.0; this check is by 0.2.0."
std::string versions_sentence(const EntryCheck& check) {
  const CheckVersions& now = check.versions;
  const CheckVersions& then = check.baseline_versions;
  std::string text;
  if (!then.program.empty() && then.program != now.program) {
    text = fmt::format("The baseline was made by memreplay {}; this check is by {}.", then.program,
                       now.program);
  }
  if (!then.rules.empty() && then.rules != now.rules) {
    add_sentence(
        text, fmt::format(
                  "The baseline was made by the rules of PyTorch {}; this check uses those of {}.",
                  then.rules, now.rules));
  }
  return text;
}

std::string phrase_of(const std::string& trace, int gpu, const CheckSetup& setup) {
  std::string phrase = trace;
  if (gpu > 0) phrase += fmt::format(", gpu {}", gpu);
  if (gpu < 0) phrase += ", " + (gpu == kHostMemory ? "host memory" : gpu_label(gpu));
  const CheckSetup usual;
  if (setup == usual) return phrase;
  phrase += ", " + setup.strategy;
  if (!setup.release.empty()) phrase += " of " + setup.release;
  if (setup.capacity) phrase += " on " + human_size(*setup.capacity);
  return phrase;
}

}  // namespace

std::string shown(const CheckedMetric& metric, std::uint64_t value) {
  return metric.in_bytes ? human_size(value) : human_count(value);
}

std::string baseline_phrase(const CheckedValue& value) {
  return value.baseline ? shown(*value.metric, *value.baseline) : kIncomparable;
}

std::string change_in_percent(const CheckedValue& value) {
  if (value.value == value.baseline) return "0 %";
  if (value.baseline.value_or(0) == 0) return kIncomparable;
  const auto baseline = static_cast<double>(*value.baseline);
  return fmt::format("{:+.1f} %", (static_cast<double>(value.value) - baseline) / baseline * 100);
}

std::string value_phrase(const CheckedValue& v) {
  std::string value = v.interval ? estimated_text(v.value, *v.interval) : shown(*v.metric, v.value);
  std::string limit = shown(*v.metric, v.limit);
  const std::string baseline = baseline_phrase(v);
  const std::string change = change_in_percent(v);
  const bool comparable = change != kIncomparable;
  if (v.passed()) {
    return fmt::format("{} ({}limit {})", value, comparable ? change + ", " : "", limit);
  }
  if (value == limit) {
    value = human_count(v.value) + " B";
    limit = human_count(v.limit) + " B";
  }
  const std::string beside = comparable ? "; " + change : "";
  if (v.of_budget) {
    return fmt::format("{} > {} (the budget{}{}{})", value, limit, v.baseline ? "; baseline " : "",
                       v.baseline ? baseline : "", beside);
  }
  return fmt::format("{} > {} (baseline {}{}{})", value, limit, baseline,
                     tolerance_phrase(*v.metric, v.tolerance), beside);
}

std::string place_phrase(const CheckedValue& value) {
  if (!value.first_event_over) return {};
  std::string phrase = "first above at event " + human_count(*value.first_event_over);
  if (value.step) {
    phrase += *value.step == 0 ? ", before step 1" : ", step " + human_count(*value.step);
  }
  return phrase;
}

std::string growth_phrase(const PlaceGrowth& growth) {
  return fmt::format("{} +{}{}", growth.place, human_size(growth.grown),
                     growth.before ? "" : " at most");
}

std::string no_growth_phrase(const EntryCheck& entry) {
  if (!entry.not_compared.empty()) return "growth is not known: " + entry.not_compared;
  if (!entry.grown.empty()) return {};
  return "no call site holds more at the allocated peak than in the baseline";
}

std::string entry_phrase(const EntryCheck& entry) {
  return phrase_of(entry.trace, entry.gpu, entry.setup);
}

std::string entry_phrase(const BaselineEntry& entry) {
  return phrase_of(entry.trace, entry.gpu, entry.setup);
}

std::string verdict_sentence(const CheckAnswer& answer) {
  std::size_t over = 0;
  std::size_t unknown = 0;
  std::size_t all = 0;
  for (const EntryCheck& entry : answer.entries) {
    all += entry.values.size();
    over += static_cast<std::size_t>(
        std::ranges::count_if(entry.values, [](const auto& value) { return !value.passed(); }));
    unknown += static_cast<std::size_t>(std::ranges::count_if(
        entry.values, [&](const auto& value) { return value.passed() && !entry.passes(value); }));
  }
  if (answer.interrupted) {
    return fmt::format("Interrupted; {} of {} were over the limit so far.", human_count(over),
                       counted(all, "value"));
  }
  const std::string failed =
      answer.failed.empty()
          ? std::string()
          : fmt::format("{} could not be checked. ", counted(answer.failed.size(), "recording"));
  if (over == 0 && unknown > 0) {
    return failed + fmt::format("{} of {} {} unknown.", human_count(unknown), counted(all, "value"),
                                unknown == 1 ? "is" : "are");
  }
  if (over == 0) {
    return failed + (all == 1
                         ? "The value is within its limit."
                         : fmt::format("All {} are within their limits.", counted(all, "value")));
  }
  return failed + fmt::format("{} of {} {} over {}.", human_count(over), counted(all, "value"),
                              over == 1 ? "is" : "are", over == 1 ? "its limit" : "their limits");
}

std::string doubt_sentences(const EntryCheck& check) {
  std::string text;
  if (!check.facts.whole()) {
    text = fmt::format("Values are lower bounds: {}.", early_end_phrase(*check.facts.early_end));
  }
  if (check.blocks_before > 0) add_sentence(text, before_sentence(check));
  if (check.counts_before() && has_interval(check)) {
    add_sentence(text,
                 "Reserved values are estimates, because the recording starts late; the most "
                 "likely value is judged.");
  }
  add_sentence(text, with_start_sentence(check));
  add_sentence(text, versions_sentence(check));
  const bool counted_there = std::ranges::any_of(
      check.values, [](const CheckedValue& value) { return value.metric->name == "ooms"; });
  if (check.ooms > 0 && !counted_there) {
    add_sentence(
        text, fmt::format(
                  "{} refused, and a refused request needs no memory (--metric ooms).",
                  check.ooms == 1 ? "1 request was" : human_count(check.ooms) + " requests were"));
  }
  if (!check.inexact_because.empty() && !has_interval(check)) {
    add_sentence(text, fmt::format("An estimate: {}.", check.inexact_because));
  }
  return text;
}

}  // namespace memreplay
