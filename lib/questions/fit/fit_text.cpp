#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "questions/fit/fit_report.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/sentences.hpp"
#include "report/parts/shared_sentences.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kContinuesAlike = "if the unfinished step continues like the one before";

std::string size_cell(const std::optional<Bytes>& size, bool proven) {
  if (!size) return "none";
  return (proven ? "" : "at most ") + exact_size(*size);
}

/// What is known to be needed, where the recording ends early.
Bytes least_of(const FitRun& run) {
  if (run.interval) return run.interval->low;
  return run.fit.proven_smallest() ? *run.fit.smallest : run.fit.known_below.value_or(0);
}

/// With its interval, where the recording does not determine it.
std::string size_cell(const FitRun& run) {
  const std::optional<Bytes>& size = run.fit.smallest;
  if (!size) return "none";
  if (run.there.at_least) return bounded(exact_size(least_of(run)), true);
  if (run.interval && run.interval->low < run.interval->high) {
    return estimated_text(*size, *run.interval);
  }
  return size_cell(size, run.fit.proven_smallest());
}

/// The cell for the device that was asked for.
std::string given_cell(const FittedDevice& fitted, const GivenDevice& given, const FitRun& run,
                       Bytes capacity) {
  const std::optional<Bytes>& smallest = run.fit.smallest;
  if (!given.fits && given.may_fit) return "may fit";
  if (!fitted.known_to_fit(run, given, capacity)) {
    return smallest ? fmt::format("unknown, {} needed", bounded(exact_size(least_of(run)), true))
                    : "unknown";
  }
  if (given.fits) {
    return smallest ? fmt::format("fits, {} to spare", human_size(capacity - *smallest)) : "fits";
  }
  if (!smallest || *smallest <= capacity) return "does not fit";
  if (run.there.at_least) {
    return fmt::format("does not fit, at least {} too small", human_size(*smallest - capacity));
  }
  return fmt::format("does not fit, {} too small", human_size(*smallest - capacity));
}

Table table_of(const FittedDevice& fitted) {
  Table table{{left("strategy"), "smallest device", "retries there", "without retries"}};
  const std::optional<Bytes> capacity = fitted.device.capacity;
  if (capacity) {
    table.columns.push_back({fitted.device.name.value_or(human_size(*capacity)), true});
  }
  for (const FitRun& run : fitted.runs) {
    const Fit& fit = run.fit;
    table.add(run.there.strategy + mark(run.there), size_cell(run),
              fit.smallest ? human_count(run.there.metrics.oom_retries) : "-",
              run.there.at_least
                  ? "-"
                  : size_cell(fit.smallest_without_retries, fit.proven_without_retries()));
    if (!capacity) continue;
    table.rows.back().back() = fit.given ? given_cell(fitted, *fit.given, run, *capacity) : "-";
  }
  // What sleeps while others are served needs no room beside them.
  const FitRun* best = fitted.best();
  if (best != nullptr && !fitted.sleeps(*best)) {
    table.add(fitted.reserve == 0 ? "lower bound (requested)" : "lower bound",
              human_size(best->there.metrics.peak_asked + fitted.reserve));
  }
  return table;
}

/// Why the smallest device is larger than what is requested.
std::string price(const FitRun& run, Bytes reserve) {
  if (!run.fit.smallest) return {};
  const RunMetrics& m = run.there.metrics;
  const Bytes used = *run.fit.smallest - reserve;
  if (used <= m.peak_asked || m.moved_out_blocks != 0) return {};
  const Bytes more = used - m.peak_asked;
  const Bytes rounding = std::min(m.lower_bound - m.peak_requested, more);
  return fmt::format(
      "{} needs {} more than the {} requested at the peak: {} for rounding, {} that it cannot use "
      "at that time.",
      run.there.strategy, human_size(more), human_size(m.peak_asked), human_size(rounding),
      human_size(more - rounding));
}

std::string impossible(const FitRun& run) {
  const Fit& fit = run.fit;
  if (fit.smallest || !fit.finished) return {};
  if (!fit.first_oom) {
    return fmt::format("{} fits none of the devices tried.", run.there.strategy);
  }
  const OomPlace& oom = *fit.first_oom;
  return fmt::format(
      "{} fits no device: without any limit it still runs out of memory at event {}, where {} are "
      "requested and the largest hole is {}. The limit is the strategy's own.",
      run.there.strategy, human_count(oom.event), human_size(oom.requested),
      human_size(oom.largest_free));
}

std::string on_given_device(const FitRun& run, const FittedDevice& fitted) {
  const Fit& fit = run.fit;
  if (!fit.given || !fit.given->first_oom || fit.first_oom) return {};
  const OomPlace& oom = *fit.given->first_oom;
  std::string text =
      fmt::format("{} runs out of memory at event {}: requested {}, {} free, largest hole {}.",
                  run.there.strategy, human_count(oom.event), human_size(oom.requested),
                  human_size(oom.free), human_size(oom.largest_free));
  if (fit.smallest && *fit.smallest <= *fitted.device.capacity && !run.there.at_least) {
    text += fmt::format(" On {} it fits.", exact_size(*fit.smallest));
  }
  return text;
}

/// Says that more memory does not always help, where it does not.
std::string not_monotonic(const FitRun& run, Bytes granule) {
  const Fit& fit = run.fit;
  if (!fit.fails_again || run.there.at_least) return {};
  std::string text = fmt::format(
      "{} fits {}, but some larger devices fail again, up to {}: the size of the device decides "
      "when memory is taken and released, and that changes what follows.",
      run.there.strategy, exact_size(*fit.smallest), exact_size(*fit.fails_again));
  if (!fit.known_below) {
    text += fmt::format(" From {} on every device fits.", exact_size(*fit.fails_again + granule));
  }
  return text;
}

std::string not_proven(const FitRun& run) {
  const Fit& fit = run.fit;
  if (!fit.smallest || !fit.known_below || fit.proven_smallest()) return {};
  return fmt::format("{}: devices from {} to {} were not all tried; a smaller one may be enough{}.",
                     run.there.strategy, exact_size(*fit.known_below), exact_size(*fit.smallest),
                     fit.finished ? "; a larger --budget tries more" : "");
}

/// Uses the words of a search over settings.
std::string to_be_sure(const FittedDevice& fitted) {
  // No recording settles what was not recorded.
  if (!fitted.trace.edits.empty() || fitted.completed) return {};
  if (!fitted.trace.pluggable_pools.empty()) return {};
  const auto open = [](const FitRun& run) {
    return run.interval && run.interval->low < run.interval->high;
  };
  if (std::ranges::none_of(fitted.runs, open)) return {};
  return "The recording starts late, so this is not certain. To be sure, " +
         better_recording(fitted.trace.warm_class == "larger");
}

std::string card_sentence(const FittedDevice& fitted) {
  const FitRun* best = fitted.best();
  if (!fitted.cards || best == nullptr) return {};
  const std::string fits = fitted.completed ? "fits " + std::string(kContinuesAlike) : "fits";
  if (fitted.cards->empty()) return fits + ": none of the known cards (memreplay list cards)";
  std::vector<std::string> names;
  for (const SufficingCard& on : *fitted.cards) {
    const Bytes left = on.card.total - on.set_aside.most - on.set_aside.others;
    names.push_back(fmt::format("{} ({} usable)", on.card.name, human_size(left)));
  }
  const SetAside& aside = fitted.cards->front().set_aside;
  return fmt::format(
      "{}: {}; under {}, beside {}.", fits, fmt::join(names, ", "), best->there.strategy,
      aside.processes > 0 ? std::string("the most that the CUDA context and libraries take there")
                          : human_size(aside.others) + " held by others");
}

/// A row for each card that was asked for.
void append_cards_table(Sheet& out, const FittedDevice& fitted) {
  if (fitted.asked_cards.empty()) return;
  Table table{{left("card"), "total"}};
  for (const FitRun& run : fitted.runs) table.columns.push_back(left(run.there.strategy));
  for (const FittedCard& on : fitted.asked_cards) {
    std::vector<std::string> row = {std::string(on.card.name), exact_size(on.card.total)};
    for (std::size_t i = 0; i < fitted.runs.size(); ++i) {
      const bool known = i < on.runs.size() && on.runs[i];
      row.push_back(known ? given_cell(fitted, *on.runs[i], fitted.runs[i], on.card.total) : "-");
    }
    table.rows.push_back(std::move(row));
  }
  out += '\n';
  append_table(out, table);
}

/// "a100 is taken for A100-80GB; there is A100-40GB too."
void append_chosen(Sheet& sheet, const FitAnswer& answer) {
  Sheet out(sheet.style());
  for (const ChosenCard& chosen : answer.cards) {
    if (chosen.others.empty()) continue;
    append_paragraph(out, fmt::format("{} was taken to mean {}; there is also {}.", chosen.as_given,
                                      chosen.card.name, fmt::join(chosen.others, ", ")));
  }
  if (!out.empty()) sheet += '\n' + out.text();
}

/// "At least 9222 MiB: the recording ends at the OOM of its first step; …"
std::string lower_bound_sentence(const FittedDevice& fitted) {
  const FitRun* best = fitted.best();
  if (!fitted.at_least() || best == nullptr) return {};
  return fmt::format("At least {}{}: {}.", exact_size(least_of(*best)),
                     fitted.runs.size() > 1 ? " under " + best->there.strategy : "",
                     early_end_phrase(*fitted.trace.early_end));
}

/// "2112 MiB if the unfinished step continues like the one before; …"
std::string completed_sentence(const FittedDevice& fitted) {
  const FitRun* best = fitted.best();
  if (!fitted.completed || best == nullptr) return {};
  return fmt::format("{}{} {}; up to the OOM their requests are the same.", size_cell(*best),
                     fitted.runs.size() > 1 ? " under " + best->there.strategy : "",
                     kContinuesAlike);
}

/// "25.3 GiB if pool (0, 1), up to 20 GiB, sleeps while others are served, 45.3 GiB if it never
/// does …"
std::string sleep_sentence(const FittedDevice& fitted) {
  const FitRun* best = fitted.best();
  if (fitted.trace.pluggable_pools.empty() || best == nullptr || !best->interval) return {};
  const bool one = fitted.trace.pluggable_pools.size() == 1;
  return fmt::format(
      "{} if {}, sleep{} while others are served, {} if {} never do{}: this is memory of a "
      "pluggable allocator (vLLM's sleep mode, torch_memory_saver), and the recording does not say "
      "when it slept. One by memreplay record does.",
      exact_size(best->interval->low), pluggable_pools_phrase(fitted.trace), one ? "s" : "",
      exact_size(best->interval->high), one ? "it" : "they", one ? "es" : "");
}

/// What the smallest device is worth where the program grows.
std::string growth(const FittedDevice& fitted) {
  const Growth* grows = fitted.trace.notable_growth();
  if (grows == nullptr) return {};
  return fmt::format(
      "{} What was recorded, with {} complete, fits below; each further step needs {} more.",
      leak_sentence(fitted.trace), counted(grows->steps, "step"), human_size(grows->per_step));
}

std::string head(const FittedDevice& fitted, bool several) {
  const std::string model = model_sentence({fitted.trace, fitted.device, {}, fitted.model_check});
  return fitted.trace.path + (several ? " " + gpu_label(fitted.trace.gpu) : "") + ": " +
         coverage_phrase(fitted.trace) + (model.empty() ? "" : "; ") + model;
}

/// Where it was recorded, or on the device that was asked for.
bool runs_out_of_memory(const FittedDevice& fitted) {
  return fitted.trace.ooms > 0 || std::ranges::any_of(fitted.runs, [](const FitRun& run) {
           return run.fit.given && !run.fit.given->fits;
         });
}

void append_notes(Sheet& out, const FittedDevice& fitted) {
  const SetAside given{.others = fitted.reserve};
  for (const std::string& sentence :
       set_aside_sentences(fitted.set_aside.value_or(given), "the device")) {
    append_paragraph(out, sentence);
  }
  for (const FitRun& run : fitted.runs) append_paragraph(out, impossible(run));
  for (const FitRun& run : fitted.runs) append_paragraph(out, on_given_device(run, fitted));
  if (const FitRun* best = fitted.best()) {
    append_paragraph(out, price(*best, fitted.reserve));
  }
  for (const FitRun& run : fitted.runs) {
    append_paragraph(out, not_monotonic(run, fitted.device.granularity));
    append_paragraph(out, not_proven(run));
    if (!run.fit.finished) append_paragraph(out, run.there.strategy + " was interrupted.");
  }
  std::vector<Run> there;
  for (const FitRun& run : fitted.runs) there.push_back(run.there);
  if (!fitted.completed) {
    for (const std::string& sentence : served_sentences(there)) append_paragraph(out, sentence);
  }
  for (const std::string& sentence : inexact_sentences(there)) append_paragraph(out, sentence);
  append_paragraph(out, to_be_sure(fitted));
  append_paragraph(out, card_sentence(fitted));
  if (fitted.at_least()) append_paragraph(out, whole_recording_sentence(fitted.trace));
  if (runs_out_of_memory(fitted)) {
    append_paragraph(out, other_program_sentence(fitted.trace.path, fitted.device.capacity));
  }
}

/// Names the rank that decides over the device that all need.
void append_largest_need(Sheet& out, const std::vector<FittedDevice>& devices) {
  const FittedDevice* largest = nullptr;
  for (const FittedDevice& fitted : devices) {
    if (fitted.runs.empty()) continue;
    const auto need = [](const FittedDevice& other) {
      return other.runs.front().fit.smallest.value_or(UINT64_MAX);
    };
    if (largest == nullptr || need(fitted) > need(*largest)) largest = &fitted;
  }
  if (devices.size() < 2 || largest == nullptr) return;
  const FitRun& run = largest->runs.front();
  out += '\n';
  append_paragraph(
      out, fmt::format("worst: {} {}, {} {}.", largest->trace.path, gpu_label(largest->trace.gpu),
                       run.there.strategy,
                       run.fit.smallest
                           ? "needs " + bounded(exact_size(*run.fit.smallest), run.there.at_least)
                           : std::string("fits nowhere")));
}

}  // namespace

std::string to_text(const FitAnswer& answer, const TextStyle& style) {
  const std::vector<FittedDevice>& devices = answer.devices;
  Sheet out(style);
  std::string said;
  for (const FittedDevice& fitted : devices) {
    append_paragraph(out, state_sentence(fitted.state_beyond));
    if (fitted.nothing_requested) {
      const std::string sentence = nothing_requested_sentence(fitted.trace);
      if (std::exchange(said, sentence) != sentence) append_paragraph(out, sentence);
      continue;
    }
    append_paragraph(out, lower_bound_sentence(fitted));
    append_paragraph(out, completed_sentence(fitted));
    append_paragraph(out, sleep_sentence(fitted));
    append_paragraph(out, growth(fitted));
    append_paragraph(out, head(fitted, devices.size() > 1));
    append_paragraph(out, capacity_sentence(fitted.device));
    out += '\n';
    append_table(out, table_of(fitted));
    append_cards_table(out, fitted);
    Sheet below(style);
    append_notes(below, fitted);
    if (!below.empty()) out += '\n' + below.text();
    if (&fitted != &devices.back()) out += '\n';
  }
  append_largest_need(out, devices);
  append_chosen(out, answer);
  if (answer.interrupted) {
    out += '\n';
    append_paragraph(out, "Interrupted: this answer is incomplete.");
  }
  return out.text();
}

}  // namespace memreplay
