#include "report/parts/sentences.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/text.hpp"
#include "program/verdict.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/shared_sentences.hpp"

namespace memreplay {
namespace {

const Run& baseline_of(const std::vector<Run>& runs) {
  const auto found = std::find_if(runs.begin(), runs.end(), [](const Run& run) {
    return run.strategy == "recorded" || run.strategy.starts_with("recorded:");
  });
  return found == runs.end() ? runs.front() : *found;
}

// "at 41 more device allocations"; calls of every kind where memory was mapped.
std::string price(const Run& run, const Run& other) {
  const bool maps = run.metrics.device_maps + other.metrics.device_maps > 0;
  const std::uint64_t a = maps ? run.device_calls() : run.metrics.device_allocs;
  const std::uint64_t b = maps ? other.device_calls() : other.metrics.device_allocs;
  const std::string noun = maps ? "device call" : "device allocation";
  if (a == b) return fmt::format("with as many {}s", noun);
  const std::uint64_t difference = a > b ? a - b : b - a;
  return fmt::format("{} {} {} {}{}", a > b ? "at" : "with", human_count(difference),
                     a > b ? "more" : "fewer", noun, difference == 1 ? "" : "s");
}

// Who moves blocks away does not get by with less for nothing.
std::string at_that_cost(const Run& run) {
  const std::string cost = transfer_cost(run);
  return cost.empty() ? cost : ", " + cost;
}

std::string against_that_cost(const Run& run) {
  const std::string cost = transfer_cost(run);
  return cost.empty() ? cost : fmt::format("; {} does it {}", run.name(), cost);
}

// A plan is no rival without that word.
std::string name_of(const Run& run) {
  return run.name() + (run.metrics.clairvoyant ? " (clairvoyant)" : "");
}

BytesInterval bounds_of(const Run& run) {
  if (run.interval) return run.interval->peak_reserved;
  return {run.metrics.peak_reserved, run.metrics.peak_reserved};
}

std::string bounds_text(const Run& run) {
  const BytesInterval bounds = bounds_of(run);
  if (!run.interval) return human_size(bounds.low);
  return range_text(bounds);
}

std::string reserved_against(const Run& run, const Run& other) {
  const Bytes a = run.metrics.peak_reserved;
  const Bytes b = other.metrics.peak_reserved;
  const BytesInterval here = bounds_of(run);
  const BytesInterval there = bounds_of(other);
  if ((run.interval || other.interval) && here.low <= there.high && there.low <= here.high) {
    return fmt::format("Which of {} ({}) and {} ({}) reserves less is undecided.", name_of(run),
                       bounds_text(run), name_of(other), bounds_text(other));
  }
  if (a == b) {
    return fmt::format("{} reserves as much as {}, {}{}{}.", name_of(run), name_of(other),
                       price(run, other), at_that_cost(run), against_that_cost(other));
  }
  return fmt::format("{} reserves {} {} than {}, {}{}{}.", name_of(run),
                     human_size(a > b ? a - b : b - a), a > b ? "more" : "less", name_of(other),
                     price(run, other), at_that_cost(run), against_that_cost(other));
}

// "3 times", or where it ended.
std::string when_out_of_memory(const Run& run) {
  return run.stopped_at_oom ? "at event " + human_count(run.metrics.first_oom->event)
                            : counted(run.metrics.ooms, "time");
}

// What was stopped at its OOM has no peak to compare.
std::string reached_against(const Run& best, const Run& other) {
  if (best.metrics.first_oom->event == other.metrics.first_oom->event) {
    return fmt::format("{} and {} run out of memory {}.", name_of(best), name_of(other),
                       when_out_of_memory(best));
  }
  return fmt::format("{} runs out of memory {}, {} {}.", name_of(best), when_out_of_memory(best),
                     name_of(other), when_out_of_memory(other));
}

std::string served_against(const Run& best, const Run& other) {
  if (best.metrics.ooms == 0) {
    return fmt::format("{} serves every request{}; {} runs out of memory {}.", name_of(best),
                       at_that_cost(best), name_of(other), when_out_of_memory(other));
  }
  return fmt::format("{} runs out of memory {}, {} {}.", name_of(best),
                     counted(best.metrics.ooms, "time"), name_of(other),
                     counted(other.metrics.ooms, "time"));
}

std::string inexact_text(const Run& run, const std::string& what) {
  const std::string text = fmt::format("{}: {}.", what, run.inexact_because);
  if (!run.interval) return text;
  if (run.interval->peak_requested) {
    return text +
           " The range covers several plausible guesses; all other output, files too, uses the "
           "most likely one.";
  }
  return text +
         " The range of reserved comes from several replays, or from the recording; all other "
         "output, files too, is from the closest replay.";
}

std::string served_text(std::uint64_t served) {
  return counted(served, "request") + " that the recorded program was refused";
}

std::string freed_text(std::uint64_t served) {
  return fmt::format(
      "{} at once: what the real program would have requested after that is unknown.",
      served == 1 ? "it" : "them");
}

// "11.0 GiB" and "11 GiB" look the same to who reads an interval.
bool look_alike(const std::string& a, const std::string& b) {
  const auto plain = [](std::string size) {
    const std::size_t zero = size.find(".0 ");
    return zero == std::string::npos ? size : size.erase(zero, 2);
  };
  return plain(a) == plain(b);
}

// Why a request found no hole that fits beside live memory. `limited`: the strategy may not have
// all that the device has free.
std::string holes_phrase(const OomPlace& oom, bool limited = false) {
  if (limited) return "enough is free in what the strategy may hold, but not in one piece";
  if (oom.device_free >= oom.requested) {
    return "the device had enough free, but the allocator asks it for more than the request";
  }
  if (oom.largest_free >= oom.requested) {
    return "enough is free in one piece, but in another stream or pool";
  }
  return oom.free >= oom.requested ? "enough is free, but not in one piece"
                                   : "it would have fitted beside live memory, but not beside what "
                                     "rounding or others take";
}

// Who takes a region of a size that was chosen beforehand does not show what it needs.
std::string at_once_sentence(const std::vector<Run>& runs) {
  std::vector<std::string> options;
  std::string one;
  for (const Run& run : runs) {
    const Bytes needed = run.metrics.peak_allocated;
    if (run.taken_at_once.empty() || run.metrics.peak_reserved - needed <= needed / 2) continue;
    one = run.name();
    options.push_back(fmt::format("{} ({})", one, run.taken_at_once));
  }
  if (options.empty()) return {};
  return fmt::format(
      "What {} reserve{} is set by the option in brackets, not by the requests: a smaller value "
      "may do.",
      fmt::join(options, " and "), options.size() == 1 ? "s" : "");
}

std::string verdict_advice(const Run& run, const JudgedRefusal& judged) {
  const Refusal& refusal = judged.refusal;
  switch (judged.verdict.cause) {
    case Cause::outside:
      return fmt::format("Outside: it would have fitted if others did not hold {} of the device.",
                         human_size(run.device.reserve));
    case Cause::limit:
      return fmt::format(
          "Limit: the strategy's own limit or arena of {} refused it; the device had {} free.",
          human_size(refusal.allowance), human_size(refusal.device_free));
    case Cause::fragmentation:
      return fmt::format("Fragmentation: {}; {}.",
                         holes_phrase(*run.metrics.first_oom, refusal.allowance < refusal.room),
                         run.tunable ? "tune says whether a setting helps"
                                     : "explain with this -s says what pins it");
    default:
      break;
  }
  if (judged.too_much) {
    return fmt::format("Shortage in effect: it would have fitted, but {}.",
                       too_much_phrase(*judged.too_much));
  }
  return run.device.capacity ? fmt::format("Shortage: a --capacity above {} helps.",
                                           human_size(*run.device.capacity))
                             : std::string("Shortage: a larger --capacity helps.");
}

}  // namespace

std::string counted(std::uint64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", human_count(count), noun, count == 1 ? "" : "s");
}

std::vector<std::string> comparison_sentences(const std::vector<Run>& all) {
  std::vector<std::string> sentences;
  std::vector<Run> runs = all;
  std::erase_if(runs, [](const Run& run) { return run.interrupted(); });
  if (runs.size() < 2) return sentences;
  if (std::string at_once = at_once_sentence(runs); !at_once.empty()) {
    sentences.push_back(std::move(at_once));
  }
  const auto by_place = [](const Run& a, const Run& b) { return a.place < b.place; };
  const Run& best = *std::min_element(runs.begin(), runs.end(), by_place);
  const Run& last = *std::max_element(runs.begin(), runs.end(), by_place);
  const Run& baseline = baseline_of(runs);
  if (best.metrics.ooms > 0) {
    sentences.push_back("No strategy here serves every request on this device.");
  }
  const auto compare = [&](const Run& run, const Run& other) {
    const Run& ahead = run.place < other.place ? run : other;
    const Run& behind = run.place < other.place ? other : run;
    if (run.metrics.ooms != other.metrics.ooms) {
      sentences.push_back(served_against(ahead, behind));
    } else if (run.stopped_at_oom) {
      sentences.push_back(reached_against(ahead, behind));
    } else {
      sentences.push_back(reserved_against(run, other));
    }
  };
  const Run& second = *std::find_if(runs.begin(), runs.end(),
                                    [&](const Run& run) { return run.place == best.place + 1; });
  const Run& rival = &best == &baseline ? second : baseline;
  if (&last != &rival && &last != &baseline) compare(last, baseline);
  compare(best, rival);
  return sentences;
}

std::string oom_warning(const Run& run) {
  if (!run.metrics.first_oom) return {};
  const OomPlace& oom = *run.metrics.first_oom;
  return fmt::format("{} ran out of memory {}, first at event {}: {}. {}", run.name(),
                     counted(run.metrics.ooms, "time"), human_count(oom.event), oom_figures(oom),
                     oom_advice(run));
}

std::string oom_figures(const OomPlace& oom) {
  const std::string asked = "requested " + human_size(oom.requested);
  if (oom.told == OomPlace::RefusedBy::recorded) return asked + ", refused when it was recorded";
  return fmt::format("{}, {} free, largest hole {}", asked, human_size(oom.free),
                     human_size(oom.largest_free));
}

std::string oom_advice(const Run& run) {
  if (!run.metrics.first_oom) return {};
  const OomPlace& oom = *run.metrics.first_oom;
  if (oom.told == OomPlace::RefusedBy::recorded) {
    return "The recording does not say how large the device was, so the cause is unknown: "
           "--capacity SIZE sets a size, --capacity none serves the request.";
  }
  if (run.refusal) return verdict_advice(run, *run.refusal);
  if (oom.free >= oom.requested) return fmt::format("Fragmentation: {}.", holes_phrase(oom));
  if (run.device.kind != "sim") return "Shortage: --scale 1/N shrinks the recording to fit.";
  return "Shortage, as on the recorded device: a larger --capacity helps.";
}

std::string range_text(const BytesInterval& interval) {
  const std::string low = human_size(interval.low);
  const std::string high = human_size(interval.high);
  return look_alike(low, high) ? high : fmt::format("{} to {}", low, high);
}

std::string estimated_text(Bytes bytes, const BytesInterval& interval) {
  const std::string estimate = "≈ " + human_size(bytes);
  const bool wide = !look_alike(human_size(interval.low), human_size(interval.high));
  return wide ? fmt::format("{} ({})", estimate, range_text(interval)) : estimate;
}

std::string reserved_text(const Run& run) {
  const Bytes peak = run.metrics.peak_reserved;
  if (!run.interval) return bounded(human_size(peak), run.at_least);
  return run.at_least ? bounded(human_size(run.interval->peak_reserved.low), true)
                      : estimated_text(peak, run.interval->peak_reserved);
}

std::string inexact_sentence(const Run& run) {
  if (run.exact) return {};
  return inexact_text(run, run.name() + " is an estimate");
}

std::string inexact_sentence(const Run& run, const std::string& names) {
  return inexact_text(run, names + " are estimates");
}

std::string served_sentence(const Run& run) {
  const std::uint64_t served = run.metrics.recorded_ooms_served;
  if (served == 0 || run.at_least) return {};
  return fmt::format("{} serves {}, and frees {}", run.name(), served_text(served),
                     freed_text(served));
}

std::string served_sentence(const Run& run, const std::string& names) {
  const std::uint64_t served = run.metrics.recorded_ooms_served;
  return fmt::format("{} serve {}, and free {}", names, served_text(served), freed_text(served));
}

std::string transfer_cost(const Run& run) {
  const RunMetrics& m = run.metrics;
  if (m.moved_out_blocks == 0 && m.stall_seconds <= 0) return {};
  return fmt::format("with {} ({}) moved out of it and a modelled stall of {:.3g} s",
                     counted(m.moved_out_blocks, "block"), human_size(m.moved_out),
                     m.stall_seconds);
}

std::string mark(const Run& run) {
  const RunMetrics& m = run.metrics;
  std::string marks = run.exact ? "" : " (estimate)";
  if (run.interrupted()) marks += " (interrupted)";
  if (run.stopped_at_oom) marks += " (stopped at OOM)";
  if (m.clairvoyant) marks += " (clairvoyant)";
  if (m.moved_out_blocks != 0 || m.stall_seconds > 0) {
    marks += fmt::format(" (stalls {:.3g} s)", m.stall_seconds);
  }
  return marks;
}

std::string model_sentence(const TraceRuns& report) {
  if (!report.model_check) return {};
  const VerifyRun& check = *report.model_check;
  if (check.verdict == Verdict::unsupported) return "model check: not possible, " + check.reason;
  const std::string matched = fmt::format("{} of {} placements", human_count(check.allocs_matched),
                                          human_count(check.allocs));
  if (check.verdict == Verdict::exact) return "model check: " + matched + " reproduced";
  std::string text = fmt::format("model check: diverges at event {}, {} reproduced",
                                 human_count(check.first_divergence->event), matched);
  return check.reason.empty() ? text : text + "; " + check.reason;
}

std::string coverage_phrase(const TraceSummary& trace) {
  const std::string start =
      trace.starts_empty
          ? "starts empty"
          : fmt::format("starts with {} ({})", counted(trace.preexisting_blocks, "block"),
                        human_size(trace.preexisting_bytes));
  std::string phrase =
      fmt::format("{}, {}, {}{}", counted(trace.events, "event"), counted(trace.streams, "stream"),
                  start, trace.gapless ? "" : ", incomplete");
  for (const EditFacts& edit : trace.edits) phrase += "; " + edit_phrase(edit);
  return phrase;
}

std::vector<std::string> set_aside_sentences(const SetAside& aside, std::string_view of) {
  if (aside.bytes() == 0) return {};
  if (aside.processes == 0) {
    return {fmt::format("{} of {} are held by others.", human_size(aside.bytes()), of)};
  }
  std::vector<std::string> takers;
  const auto add = [&](std::string_view name, Bytes each) {
    takers.push_back(aside.processes == 1 ? fmt::format("{} ({})", name, human_size(each))
                                          : std::string(name));
  };
  add("the CUDA context", aside.context);
  for (std::size_t i = 0; i < kLibraryUses.size(); ++i) {
    if (aside.loaded.used[i]) add(kLibraryUses[i].name, kLibraryUses[i].usual);
  }
  const std::string last = takers.back();
  takers.pop_back();
  std::vector<std::string> said = {fmt::format(
      "{} of {} are set aside for {} and {}{}; from card to card that is {} (--reserve SIZE sets a "
      "size).",
      human_size(aside.bytes()), of, fmt::join(takers, ", "), last,
      aside.processes == 1 ? "" : fmt::format(" of {} processes", aside.processes),
      range_text({aside.least, aside.most}))};
  if (aside.kernels == KernelsThere::differ) {
    said.emplace_back(
        "It was recorded on another kind of card, as the workspaces for cuBLAS show. Kernels need "
        "other memory there: the bounds are 3 % wider for that.");
  } else if (aside.kernels == KernelsThere::may_differ) {
    said.emplace_back(
        "The recording does not say on which card it was made, and convolutions have other "
        "workspaces on another one: the bounds are 3 % wider for that.");
  }
  return said;
}

std::string capacity_sentence(const DeviceSummary& device) {
  constexpr std::string_view kOtherwise = "--capacity SIZE sets another, --capacity none lifts it";
  const Bytes shown = device.usable();
  const std::string beside =
      device.reserve == 0 ? ""
                          : fmt::format(", beside {} held by others", human_size(device.reserve));
  if (device.capacity_from == CapacityFrom::recorded_oom) {
    return fmt::format(
        "The device is that of the recorded failure: {} were reserved or free then{} ({}).",
        human_size(shown), beside, kOtherwise);
  }
  if (device.capacity_from == CapacityFrom::recorded_retries) {
    return fmt::format(
        "The recording does not say how large the device was; it was full at some time, and all "
        "that was recorded fits in {}{} ({}).",
        human_size(shown), beside, kOtherwise);
  }
  return {};
}

std::string edit_phrase(const EditFacts& edit) {
  const std::string blocks =
      fmt::format("{} ({})", counted(edit.blocks, "block"), human_size(edit.bytes));
  if (edit.recomputed_requests > 0) {
    return fmt::format("{} frees {} early and recomputes {}, in {}", edit.edit, blocks,
                       human_size(edit.recomputed_bytes),
                       counted(edit.recomputed_requests, "request"));
  }
  if (edit.moved_bytes > 0) {
    return fmt::format(
        "{} moves {} out and in again, at least {} there at once{}", edit.edit, blocks,
        human_size(edit.other_memory_peak),
        edit.moving_seconds > 0 ? fmt::format(", in {:.3g} s", edit.moving_seconds) : "");
  }
  return fmt::format("{} changes {}", edit.edit, blocks);
}

}  // namespace memreplay
