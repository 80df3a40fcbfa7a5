#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

#include "core/card.hpp"
#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "extensions/ranks/ranks_report.hpp"
#include "questions/explain/phrases.hpp"
#include "questions/tune/tune_report.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/sentences.hpp"
#include "report/parts/sizes.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kShown = 10;  ///< ranks, and classes

std::string shown(const RankMetric& metric, std::uint64_t value) {
  return metric.in_bytes ? human_size(value) : human_count(value);
}

bool any_ends_early(std::span<const RankRow> rows) {
  return std::ranges::any_of(rows, [](const RankRow& row) { return !row.facts.whole(); });
}

// "5328 MiB", "4568 MiB or more", "406 MiB to 512 MiB"
std::string peaks_phrase(std::span<const RankRow> rows) {
  const auto peak = [](const RankRow& row) { return row.runs.front().peak_reserved; };
  const auto [least, most] = std::ranges::minmax(rows, {}, peak);
  const bool estimated = std::ranges::any_of(
      rows, [](const RankRow& row) { return row.runs.front().peak_interval.has_value(); });
  const std::string text = range_text({peak(least), peak(most)});
  return any_ends_early(rows) ? text + " or more" : (estimated ? "about " : "") + text;
}

// "5328 MiB reserved and 2 OOMs"
std::string need_phrase(const RankRow& row, const RankRun& run) {
  const std::string peak =
      !row.facts.whole()
          ? bounded(human_size(run.peak_interval
                                   .value_or(BytesInterval{run.peak_reserved, run.peak_reserved})
                                   .low),
                    true)
      : run.peak_interval ? estimated_text(run.peak_reserved, *run.peak_interval)
                          : human_size(run.peak_reserved);
  return run.ooms == 0 ? peak + " reserved"
                       : fmt::format("{} reserved and {}", peak, counted(run.ooms, "OOM"));
}

/// Ranks that ask for the same and came to the same.
struct Alike {
  const RankRow* row;  ///< the lowest rank's
  std::vector<std::uint64_t> ranks;
};

auto figures(const RankRow& row) {
  const RankRun& run = row.runs.front();
  return std::tuple(row.stream, run.strategy, run.peak_allocated, run.peak_reserved, run.ooms,
                    run.oom_retries);
}

// The worst first.
std::vector<Alike> alike_of(const std::vector<RankRow>& rows) {
  std::vector<Alike> all;
  for (const RankRow& row : rows) {
    const auto same = std::ranges::find_if(
        all, [&](const Alike& other) { return figures(*other.row) == figures(row); });
    if (same == all.end()) {
      all.push_back({&row, {row.rank}});
    } else {
      same->ranks.push_back(row.rank);
    }
  }
  for (Alike& one : all) std::ranges::sort(one.ranks);
  return all;
}

// "Rank 3 (gpu 3) ran", "All 4 ranks ran", "No rank ran"
std::string who_ran(std::span<const RankRow> died, const std::vector<RankRow>& rows) {
  if (died.empty() && rows.size() == 1) return fmt::format("Rank {} did not run", rows[0].rank);
  if (died.empty()) return "No rank ran";
  if (died.size() == 1)
    return fmt::format("Rank {} ({}) ran", died[0].rank, gpu_label(died[0].gpu));
  if (died.size() == rows.size()) return fmt::format("All {} ranks ran", rows.size());
  std::vector<std::uint64_t> ranks;
  for (const RankRow& row : died) ranks.push_back(row.rank);
  std::ranges::sort(ranks);
  return fmt::format("Ranks {} ran", ranks_text(ranks));
}

// "Rank 3 (gpu 3) ran out of memory"
std::string died_phrase(const RanksAnswer& answer, std::span<const RankRow> died) {
  const std::vector<RankRow>& rows = answer.part.rows;
  const std::string& strategy = answer.under.front().strategy;
  return fmt::format("{} out of memory{}{}", who_ran(died, rows),
                     strategy == "recorded" ? "" : " under " + strategy,
                     died.empty() && any_ends_early(rows) ? " in what is recorded" : "");
}

// The ranks that live, the most reserved first.
std::string others_sentence(std::span<const RankRow> others, bool some_died) {
  const std::string peak = peaks_phrase(others);
  if (others.size() == 1) {
    return fmt::format("{} peaked at {} reserved.", some_died ? "The other rank" : "It", peak);
  }
  const std::string them =
      fmt::format("{} {} ranks", some_died ? "The other" : "All", others.size());
  const auto same = [&](const RankRow& row) { return figures(row) == figures(others.front()); };
  if (std::ranges::all_of(others, same)) {
    return fmt::format("{} are identical and peaked at {} reserved.", them, peak);
  }
  const auto peak_of = [](const RankRow& row) { return row.runs.front().peak_reserved; };
  const bool differ = peak_of(others.front()) != peak_of(others.back());
  return fmt::format("{} peaked at {} reserved{}.", them, peak,
                     differ ? fmt::format(", rank {} highest", others.front().rank) : "");
}

Table ranks_table(const RanksAnswer& answer, std::span<const Alike> shown_ones) {
  Table table{{"rank", "class", "peak reserved", "peak allocated", "OOM", "retries"}};
  std::vector<Bytes> sizes;
  for (const auto& [row, ranks] : shown_ones) {
    const RankRun& run = row->runs.front();
    sizes.insert(sizes.end(), {run.peak_reserved, run.peak_allocated});
  }
  const std::vector<std::string> texts = sizes_beside(sizes);
  for (std::size_t i = 0; i < shown_ones.size(); ++i) {
    const auto& [row, ranks] = shown_ones[i];
    const RankRun& run = row->runs.front();
    table.add(ranks_text(ranks), answer.class_of(*row) + 1,
              bounded((run.peak_interval ? "≈ " : "") + texts[2 * i], !row->facts.whole()),
              bounded(texts[2 * i + 1], !row->facts.whole()), human_count(run.ooms),
              human_count(run.oom_retries));
  }
  return table;
}

void append_ranks(Sheet& out, const RanksAnswer& answer) {
  const std::vector<Alike> all = alike_of(answer.part.rows);
  append_table(out, ranks_table(answer, std::span(all).first(std::min(kShown, all.size()))));
  if (all.size() > kShown) {
    append_paragraph(out, fmt::format("and {} more (--csv has all)", all.size() - kShown));
  }
}

// "20 MiB", "2 MiB to 20 MiB"
std::string elsewhere_text(const std::vector<RankElsewhere>& all) {
  const auto [least, most] = std::ranges::minmax(all, {}, &RankElsewhere::peak_reserved);
  return range_text({least.peak_reserved, most.peak_reserved});
}

// Who has memory on which device beside the one that counts for it.
void append_elsewhere(Sheet& out, const RanksAnswer& answer) {
  std::map<int, std::map<std::uint64_t, RankElsewhere>> by_gpu;
  for (const RankRow& row : answer.part.rows) {
    for (RankElsewhere& other : row.away()) by_gpu[other.gpu][row.rank] = std::move(other);
  }
  bool guests = false;
  for (const auto& [gpu, ranks] : by_gpu) {
    const std::vector<std::uint64_t> owners = answer.owners_of(gpu);
    std::vector<std::uint64_t> numbers;
    std::vector<RankElsewhere> there;
    for (const auto& [rank, other] : ranks) {
      numbers.push_back(rank);
      there.push_back(other);
    }
    const std::string& place = there.front().place;
    std::string text = fmt::format(
        "{} {} also {} memory on {}{}: {} reserved{}", numbers.size() == 1 ? "Rank" : "Ranks",
        ranks_text(numbers), numbers.size() == 1 ? "has" : "have", gpu_label(gpu),
        owners.empty() ? ""
                       : fmt::format(", the card of rank{} {}", owners.size() == 1 ? "" : "s",
                                     ranks_text(owners)),
        elsewhere_text(there), place.empty() ? "" : fmt::format(", first from {}", place));
    if (!owners.empty()) {
      text += fmt::format("; a CUDA context takes some {} there too", human_size(kContext));
    }
    append_paragraph(out, text + '.');
    guests = guests || !owners.empty();
  }
  if (guests) append_paragraph(out, kOwnCardEach);
  if (!by_gpu.empty()) {
    append_paragraph(out,
                     "Of several devices the one that fares worst counts for its rank; --gpu N "
                     "chooses another.");
  }
}

Table spread_table(const RanksUnder& under) {
  Table table{{"", "min", "median", "max", "on rank"}};
  for (std::size_t i = 0; i < under.spreads.size(); ++i) {
    const RankMetric& metric = rank_metrics()[i];
    const Spread& s = under.spreads[i];
    table.add(metric.word, shown(metric, s.min), shown(metric, s.median), shown(metric, s.max),
              s.max_rank);
  }
  return table;
}

Table strategies_table(const RanksAnswer& answer) {
  Table table{{"strategy", "worst rank", "its peak reserved", "its OOM", "ranks with OOM"}};
  for (std::size_t i = 0; i < answer.under.size(); ++i) {
    const RanksUnder& under = answer.under[i];
    const RankRow& worst = answer.part.rows[under.worst];
    table.add(under.strategy, worst.rank, human_size(worst.runs[i].peak_reserved),
              human_count(worst.runs[i].ooms), human_count(under.out_of_memory));
  }
  return table;
}

// In bytes where the other's is nearly the same.
std::string size_text(const DepartingCall& call, const std::optional<DepartingCall>& beside) {
  if (!beside || beside->size == call.size) return human_size(call.size);
  const auto [less, more] = std::minmax(beside->size, call.size);
  return more - less < more / 100 ? human_count(call.size) + " B" : human_size(call.size);
}

std::string call_phrase(const std::optional<DepartingCall>& call, std::uint64_t event,
                        const std::optional<DepartingCall>& beside) {
  if (!call) return fmt::format("ends at event {}", human_count(event));
  const std::string size = size_text(*call, beside);
  std::string text;
  if (call->what == "request") {
    text = "asks for " + size;
  } else if (call->what == "refused") {
    text = "is refused " + size;
  } else if (call->what == "free") {
    text = "frees " + size;
  } else if (call->what == "start") {
    text = fmt::format("starts with {} already there", size);
  } else {
    text = "calls " + call->what;
  }
  text += fmt::format(" at event {}", human_count(event));
  return call->place.empty() ? text : fmt::format("{} ({})", text, call->place);
}

std::string alike(const RankClass& c) {
  return c.ranks.size() == 1 ? fmt::format("rank {} alone", c.ranks.front())
                             : "ranks " + ranks_text(c.ranks);
}

void append_classes(Sheet& out, const RanksAnswer& answer) {
  constexpr std::size_t kIndent = 3;
  const std::size_t count = answer.classes.size();
  append_paragraph(
      out, count == 1 ? "All make the same requests." : "Ranks that make the same requests:");
  for (std::size_t i = 0; count > 1 && i < std::min(kShown, count); ++i) {
    const RankClass& c = answer.classes[i];
    std::string text = fmt::format("class {}: {}, {}", i + 1, alike(c), c.representative);
    if (const auto& d = c.departure) {
      const RankClass& twin = answer.classes[d->from];
      text += fmt::format("; like class {}, until rank {} {} where rank {} {}", d->from + 1,
                          c.ranks.front(), call_phrase(d->call, d->event, d->twin_call),
                          twin.ranks.front(), call_phrase(d->twin_call, d->twin_event, d->call));
    }
    append_paragraph(out, text, kIndent);
  }
  if (count > kShown) append_paragraph(out, fmt::format("and {} more", count - kShown), kIndent);
}

void append_stages(Sheet& out, const RanksAnswer& answer) {
  if (answer.stages.empty()) return;
  const auto [least, most] = std::ranges::minmax(answer.stages, {}, &RankStage::peak_reserved);
  std::vector<std::string> parts;
  for (const RankStage& stage : answer.stages) {
    parts.push_back(
        fmt::format("{}-{} {}", stage.first, stage.last, human_size(stage.peak_reserved)));
  }
  std::string text =
      fmt::format("Pipeline stages, guessed from the classes: {}", fmt::join(parts, ", "));
  if (least.peak_reserved > 0) {
    text += fmt::format(
        "; the largest is {:.2f} times the smallest",
        static_cast<double>(most.peak_reserved) / static_cast<double>(least.peak_reserved));
  }
  append_paragraph(out, text + '.');
}

std::string files_sentence(const RanksPart& part) {
  std::string text;
  if (part.ranks_from == RanksFrom::order) {
    text = "The names do not show the ranks: files are numbered in the order of their paths. ";
  }
  if (part.others > 0) {
    text += counted(part.others, "file") +
            (part.others == 1 ? " is no recording. " : " are no recordings. ");
  }
  if (!part.unreadable.empty()) {
    text += counted(part.unreadable.size(), "recording") + " could not be read. ";
  }
  if (!text.empty()) text.pop_back();
  return text;
}

std::string last_sentence(const RanksAnswer& answer) {
  const RanksUnder& best = answer.under[answer.best];
  const RankRow& worst = answer.part.rows[best.worst];
  if (answer.under.size() > 1) {
    return fmt::format("One setting for all ranks: {}; its worst is rank {} with {}.",
                       best.strategy, worst.rank, need_phrase(worst, worst.runs[answer.best]));
  }
  const Spread& peak = best.spreads.front();
  if (peak.min == peak.max) return "";  // the verdict says it
  return fmt::format("Rank {} reserves {} more than rank {}.", peak.max_rank,
                     human_size(peak.max - peak.min), peak.min_rank);
}

std::string next_command(const RanksAnswer& answer) {
  const RankRow& worst = answer.part.rows.front();
  const std::string& strategy = worst.runs.front().strategy;
  return fmt::format(
      "To see what holds the memory of rank {}, and what helps:\n"
      "memreplay explain {}{}{}",
      worst.rank, path_word(worst.path),
      strategy == "recorded" ? "" : " -s " + shell_word(strategy),
      answer.why ? answer.why->options : "");
}

/// `class_of` tells a row's class, empty where it is not known.
template <typename ClassOf>
Table rows_table(const RanksPart& part, const ClassOf& class_of) {
  Table table{{"rank", left("path"), "gpu", "class", left("strategy")}};
  for (const RankMetric& metric : rank_metrics())
    table.columns.emplace_back(std::string(metric.name));
  table.columns.emplace_back("exact");
  for (const RankRow& row : part.rows) {
    for (const RankRun& run : row.runs) {
      std::vector<std::string>& cells = table.rows.emplace_back();
      cells = {std::to_string(row.rank), row.path, std::to_string(row.gpu), class_of(row),
               run.strategy};
      for (const RankMetric& metric : rank_metrics()) {
        cells.push_back(std::to_string(metric.of(row, run)));
      }
      cells.push_back(run.peak_interval ? "false" : "true");
    }
  }
  return table;
}

}  // namespace

std::string ranks_text(const std::vector<std::uint64_t>& ranks) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::size_t first = i;
    while (i + 1 < ranks.size() && ranks[i + 1] == ranks[i] + 1) ++i;
    runs.push_back(std::to_string(ranks[first]));
    if (i > first) runs.back() += fmt::format("-{}", ranks[i]);
  }
  if (runs.size() <= kMost) return fmt::format("{}", fmt::join(runs, ", "));
  return fmt::format("{}, {} … {} ({} ranks)", runs[0], runs[1], runs.back(), ranks.size());
}

std::string ranks_sentence(const RanksAnswer& answer) {
  const std::span<const RankRow> rows = answer.part.rows;
  const auto lives = [](const RankRow& row) { return row.runs.front().ooms == 0; };
  const auto count = static_cast<std::size_t>(std::ranges::find_if(rows, lives) - rows.begin());
  const std::string text = died_phrase(answer, rows.first(count)) + '.';
  return count == rows.size() ? text : text + ' ' + others_sentence(rows.subspan(count), count > 0);
}

std::string ranks_rows(const RanksAnswer& answer, const TextStyle& style) {
  Sheet out(style);
  append_ranks(out, answer);
  append_elsewhere(out, answer);
  append_paragraph(out, files_sentence(answer.part));
  return out.text();
}

std::string ranks_beginning(const RanksAnswer& answer, const TextStyle& style) {
  Sheet out(style);
  const std::string said = wrapped(ranks_sentence(answer), 0, style.width);
  out += (answer.ran_out() ? red(said, style) : bold(said, style)) + '\n';
  if (answer.why && answer.why->explanation.at_oom) {
    append_paragraph(
        out,
        fmt::format("Rank {}: {} {}", answer.part.rows.front().rank, verdict_sentence(*answer.why),
                    leak_sentences(answer.why->trace, {})),
        0);
  }
  return out.text() + '\n' + ranks_rows(answer, style);
}

std::string to_text(const RanksAnswer& answer, const TextStyle& style) {
  Sheet out(style);
  out += ranks_beginning(answer, style);
  if (answer.part.rows.size() > 1) {
    out += '\n';
    append_table(out, spread_table(answer.under.front()));
  }
  if (answer.under.size() > 1) {
    out += '\n';
    append_table(out, strategies_table(answer));
  }
  out += '\n';
  if (answer.part.rows.size() > 1) append_classes(out, answer);
  append_stages(out, answer);
  append_paragraph(out, last_sentence(answer));
  append_paragraph(out, next_command(answer));
  if (answer.tuned) {
    out += '\n';
    append_paragraph(out, "One setting for all ranks, searched on a recording of each class:");
    out += '\n' + to_text(*answer.tuned, style);
  } else if (answer.ran_out()) {
    const RankRow& worst = answer.part.rows.front();
    append_paragraph(out, other_program_sentence(worst.path, worst.capacity));
  }
  return out.text();
}

Table to_table(const RanksAnswer& answer) {
  return rows_table(answer.part,
                    [&](const RankRow& row) { return std::to_string(answer.class_of(row)); });
}

Table to_table(const RanksPart& part) {
  return rows_table(part, [](const RankRow&) { return std::string(); });
}

std::string to_text(const RanksPart& part, const TextStyle& style) {
  Sheet out(style);
  append_paragraph(
      out, fmt::format("{} of {} shards: {} in {}. {}", part.shards.size(), part.of,
                       counted(part.rows.size(), "rank"),
                       part.streams.size() == 1 ? "one class"
                                                : fmt::format("{} classes", part.streams.size()),
                       files_sentence(part)));
  append_paragraph(out, "Run memreplay ranks --merge on the JSON of all shards for the answer.");
  return out.text();
}

}  // namespace memreplay
