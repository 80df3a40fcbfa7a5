#include <algorithm>

#include "questions/fit/fit_report.hpp"
#include "report/formats/format.hpp"
#include "report/parts/json_parts.hpp"
#include "report/parts/paragraphs.hpp"

namespace memreplay {
namespace {

/// On the device that was asked for.
std::optional<bool> known_to_fit(const FittedDevice& device, const FitRun& run) {
  if (!run.fit.given) return std::nullopt;
  return device.known_to_fit(run, *run.fit.given, *device.device.capacity);
}

std::optional<std::int64_t> headroom(const FitRun& run, const DeviceSummary& device) {
  if (!device.capacity || !run.fit.smallest) return std::nullopt;
  return static_cast<std::int64_t>(*device.capacity - *run.fit.smallest);
}

void smallest_interval_fields(JsonFields& f, const BytesInterval& interval) {
  f("smallest_capacity_bytes", interval, "[low, high]");
}

/// What is known of a run on the smallest device.
void there_fields(JsonFields& f, const FitRun& run, const FittedDevice& device) {
  const RunMetrics& m = run.there.metrics;
  const auto known = [&](auto value) { return only_if(run.fit.smallest.has_value(), value); };
  f("held_by_others_bytes", device.reserve, "in every capacity");
  f("peak_requested_bytes", known(m.peak_requested), "peak of the sizes asked for by live blocks");
  f("peak_asked_bytes", known(m.peak_asked), "the same with recorded OOMs that are served here");
  f("lower_bound_bytes", device.sleeps(run) ? std::nullopt : known(m.lower_bound),
    "peak of live bytes under the strategy's rounding; null where pools sleep");
  f("recorded_ooms_served", known(m.recorded_ooms_served),
    "requests served here that were refused when recorded");
  f("moved_out_blocks", known(m.moved_out_blocks), "live blocks that left the device");
  bound_field(f, run.there.at_least);
}

void fit_run_fields(JsonFields& f, const FitRun& run, const FittedDevice& device) {
  const Fit& fit = run.fit;
  f.called("fit_run");
  f("strategy", run.there.strategy, "the specification as given");
  f("gpu", run.there.gpu, "which device of the recording");
  f("smallest_capacity_bytes", fit.smallest, "the smallest device; null: none suffices");
  f("oom_retries_there", only_if(fit.smallest.has_value(), run.there.metrics.oom_retries),
    "OOM retries on it");
  f("smallest_capacity_without_retries_bytes", fit.smallest_without_retries,
    "the smallest device without OOM retries");
  f("proven_smallest", fit.proven_smallest(), "proved: no smaller one is enough");
  f("proven_without_retries", fit.proven_without_retries(), "likewise without retries");
  f("known_below_bytes", fit.known_below, "every capacity below is known; null: every one");
  f("fails_again_at_bytes", fit.fails_again, "the largest device known to be too small");
  there_fields(f, run, device);
  f("fits", known_to_fit(device, run), "the device that was asked for; null: none was, or unknown");
  f("headroom_bytes", headroom(run, device.device), "its size less the smallest");
  f("bounded_by_start", fit.bounded_by_start, "smaller ones cannot hold the memory from before");
  f("first_oom", fit.given ? fit.given->first_oom : fit.first_oom,
    "on the device asked for, else on one without limit");
  f("exact", run.there.exact, "the recording determines the result");
  f("interval", each(run.interval, smallest_interval_fields), "null where it is exact");
  f("inexact_because", unless_empty(run.there.inexact_because), "the end of a sentence");
  f("finished", fit.finished, "false: interrupted");
  f("replays", fit.replays, "replays made");
}

/// A strategy on one of several cards.
void card_run_fields(JsonFields& f, const FitRun& run, const std::optional<GivenDevice>& given,
                     const FittedDevice& device, const Card& card) {
  f("strategy", run.there.strategy, "the specification as given");
  f("fits", given ? device.known_to_fit(run, *given, card.total) : std::nullopt, "null: unknown");
  f("first_oom", given ? given->first_oom : std::nullopt, "the first request not served");
}

void card_fields(JsonFields& f, const FittedCard& on, const FittedDevice& device) {
  f("card", on.card.name, "a name of `list cards`");
  f("total_bytes", on.card.total, "what its driver reports");
  const Bytes aside = on.set_aside.bytes();
  usable_fields(f, on.card.total - std::min(on.card.total, aside), on.set_aside);
  std::size_t at = 0;
  const auto run = [&](JsonFields& runs, const std::optional<GivenDevice>& given) {
    const bool known = at < device.runs.size();
    card_run_fields(runs, known ? device.runs[at] : FitRun(), given, device, on.card);
    ++at;
  };
  f("runs", each(on.runs, run), "by strategy");
}

std::optional<std::vector<std::string_view>> names_of(
    const std::optional<std::vector<SufficingCard>>& cards) {
  if (!cards) return std::nullopt;
  std::vector<std::string_view> names;
  for (const SufficingCard& on : *cards) names.push_back(on.card.name);
  return names;
}

/// The result whose first strategy needs the largest device.
Json worst_of(const std::vector<FittedDevice>& devices) {
  const auto need = [](const FittedDevice& device) {
    return device.runs.empty() ? 0 : device.runs.front().fit.smallest.value_or(UINT64_MAX);
  };
  const auto worst = std::ranges::max_element(devices, {}, need);
  return worst == devices.end() ? Json(nullptr) : Json(worst - devices.begin());
}

}  // namespace

void fields(JsonFields& f, const FittedDevice& device) {
  const auto run = [&](JsonFields& runs, const FitRun& fitted) {
    fit_run_fields(runs, fitted, device);
  };
  result_fields(f, "fit", device.trace, device.device, each(device.runs, run));
  f("state_beyond_device", device.state_beyond,
    "memory from before the recording exceeds the device");
  f("remarks", nothing_requested_remarks(device.trace, device.nothing_requested), "sentences");
  f("cards_that_fit", names_of(device.cards), "for the best strategy; null: not looked for");
  f("rest_of_step_from_before", device.completed,
    "the step that failed is assumed to end as the one before");
  const auto card = [&](JsonFields& cards, const FittedCard& on) {
    card_fields(cards, on, device);
  };
  f("asked_cards", each(device.asked_cards, card), "where several were asked for");
  model_check_field(f, device.model_check);
}

std::string to_json(const FitAnswer& answer) {
  return dump_each("fit", answer.devices, worst_of(answer.devices));
}

Table to_table(const FitAnswer& answer) {
  Table table{{left("trace"), "gpu", left("strategy"), "smallest_capacity_bytes",
               "oom_retries_there", "smallest_capacity_without_retries_bytes", "proven_smallest",
               "fails_again_at_bytes", "exact", "fits", "bound", "smallest_capacity_low_bytes",
               "smallest_capacity_high_bytes"}};
  for (const FittedDevice& device : answer.devices) {
    for (const FitRun& run : device.runs) {
      const Fit& fit = run.fit;
      table.add(device.trace.path, run.there.gpu, run.there.strategy, fit.smallest,
                fit.smallest ? cell_of(run.there.metrics.oom_retries) : "",
                fit.smallest_without_retries, fit.proven_smallest(), fit.fails_again,
                run.there.exact, known_to_fit(device, run), run.there.at_least ? "lower" : "",
                run.interval ? cell_of(run.interval->low) : "",
                run.interval ? cell_of(run.interval->high) : "");
    }
  }
  return table;
}

std::string to_markdown(const FitAnswer& answer) {
  return answer_and_table(to_text(answer, {}), to_table(answer));
}

}  // namespace memreplay
