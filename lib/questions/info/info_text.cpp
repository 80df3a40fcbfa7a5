#include <fmt/format.h>

#include <algorithm>

#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "questions/info/info_report.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/plot.hpp"
#include "report/parts/sentences.hpp"
#include "report/parts/table.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kIndent = 15;

std::string line_of(std::string_view name, const std::string& text, std::size_t width) {
  return fmt::format(" {:<14}{}\n", name, wrapped(text, kIndent, width));
}

std::string duration(std::int64_t us) {
  const double seconds = static_cast<double>(us) / 1e6;
  if (seconds >= 120) return fmt::format("{:.1f} min", seconds / 60);
  return fmt::format("{:.3g} s", seconds);
}

std::string by_reason(const std::map<std::string, std::uint64_t>& counts,
                      const std::map<std::string, std::string>& first_places) {
  std::string out;
  for (const auto& [reason, count] : counts) {
    const auto place = first_places.find(reason);
    out += fmt::format("{}{} ({}{})", out.empty() ? "" : ", ", reason, human_count(count),
                       place == first_places.end() ? "" : ", first at " + place->second);
  }
  return out;
}

std::string listed(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + text;
  return out;
}

std::string covers(const TraceSummary& trace) {
  if (trace.events == 0) {
    return fmt::format("no events: a state of {} ({})", counted(trace.preexisting_blocks, "block"),
                       human_size(trace.preexisting_bytes));
  }
  std::string text = counted(trace.events, "event");
  if (trace.duration_us) text += " in " + duration(*trace.duration_us);
  if (trace.starts_empty) {
    text += ", from an empty device";
  } else if (trace.stated.own_count) {
    text += fmt::format(", after {} that was allocated before",
                        human_size(trace.stated.own_count->before));
  } else {
    text += fmt::format(", after {} ({}) that existed before",
                        counted(trace.preexisting_blocks, "block"),
                        human_size(trace.preexisting_bytes));
  }
  if (trace.full_ring) {
    text += fmt::format("; the ring was full: {} entries", human_count(*trace.full_ring));
  }
  return text + (trace.gapless ? "; nothing lost since" : "; some events are missing");
}

std::string at_event(const TraceSummary& trace, const std::optional<std::uint64_t>& event) {
  if (trace.events == 0) return {};
  return event ? fmt::format(" at event {}", human_count(*event)) : std::string(" at the start");
}

// All there is to say about a recording in which nothing was requested.
std::string state(const StateSummary& state) {
  return fmt::format("{} reserved in {}, {} of it live in {}, {} of them with a stack",
                     human_size(state.reserved), counted(state.segments, "segment"),
                     human_size(state.live), counted(state.blocks, "block"),
                     human_count(state.blocks_with_stacks));
}

std::string recorded(const TraceSummary& trace) {
  std::string text = fmt::format("peak requested {}{}", human_size(trace.peak_requested),
                                 at_event(trace, trace.peak_requested_event));
  if (trace.peak_reserved) {
    text += fmt::format(", peak reserved {}{}", human_size(*trace.peak_reserved),
                        at_event(trace, trace.peak_reserved_event));
  }
  if (const auto& own = trace.stated.own_count) {
    text += fmt::format(", peak allocated {} of {} by {}", human_size(own->peak),
                        human_size(own->limit), own->allocator);
  }
  if (trace.stated.planned) text += ", planned " + human_size(*trace.stated.planned);
  text += fmt::format(", {} OOM", human_count(trace.ooms));
  if (const std::uint64_t retries = trace.retries.value_or(0); retries > 0) {
    text += retries == 1 ? ", 1 retry" : fmt::format(", {} retries", human_count(retries));
  }
  if (trace.settings) {
    text += ", settings: " + (trace.settings->empty() ? std::string("default") : *trace.settings);
  }
  if (!trace.settings_variable.empty() && trace.settings_variable != "PYTORCH_CUDA_ALLOC_CONF") {
    text += fmt::format(" ({})", trace.settings_variable);
  }
  if (!trace.settings && trace.expandable_segments.value_or(false)) {
    text += ", settings not stated, segments expandable";
  }
  if (trace.request_padding > 0) {
    text += fmt::format(", each request padded by {} bytes", trace.request_padding);
    const auto& range = trace.request_padding_range;
    if (range && range->first != range->second) {
      text += fmt::format(" ({} to {} would explain its blocks too)", range->first, range->second);
    }
  }
  return text;
}

// "2 devices", "1 device", "1 device (gpu 3)": the first one is not worth a word.
std::string devices_phrase(const TraceSummary& trace) {
  const std::string text = counted(trace.devices, "device");
  return trace.devices == 1 && trace.gpu != 0 ? fmt::format("{} ({})", text, gpu_label(trace.gpu))
                                              : text;
}

/// What ran before the recording.
std::string before(const TraceSummary& trace) {
  const std::string& kind = *trace.warm_class;
  if (kind == "fresh") return "fresh: only what made the existing blocks";
  if (kind == "steady") return "steady: steps like the recorded ones";
  const std::string largest =
      fmt::format("about {:.3g} times the largest one recorded", trace.largest_earlier_step);
  if (kind == "smaller") return "smaller: steps of up to " + largest;
  return "larger: a step of " + largest;
}

std::string trust(const TraceSummary& trace) {
  if (!trace.why_no_trace.empty()) return "nothing to replay: it " + trace.why_no_trace + ".";
  if (trace.events == 0) return "a state without a history: nothing to replay.";
  if (requests_nothing(trace)) return "no requests in it: nothing to replay.";
  if (trace.early_end) {
    return fmt::format("peaks are lower bounds: {}.", early_end_phrase(*trace.early_end)) +
           (trace.starts_empty ? "" : " It starts late, too: other settings give an estimate.");
  }
  if (!trace.pluggable_pools.empty()) return pluggable_pools_sentence(trace);
  if (trace.starts_empty && trace.complete) {
    return "exact under any settings: it starts with nothing allocated and lost nothing.";
  }
  constexpr double kFarLarger = 1.5;
  if (trace.warm_class && trace.largest_earlier_step > kFarLarger) {
    return "same settings: exact where the start was recorded. Other settings: a poor estimate, "
           "because much larger steps ran before.";
  }
  if (!trace.starts_empty) {
    return "same settings: exact where the start was recorded. Other settings: an estimate, "
           "because "
           "the past is not in the recording.";
  }
  return trace.gapless ? "an estimate, because parts of the recording are missing."
                       : "an estimate, because events are missing.";
}

std::string selected(const SelectedBlocks& selected, std::uint64_t allocs) {
  if (selected.blocks == 0) return "no block";
  std::string text = fmt::format("{} of {} ({}), {} to {} each", human_count(selected.blocks),
                                 counted(allocs, "allocation"), human_size(selected.bytes),
                                 human_size(selected.smallest), human_size(selected.largest));
  return text + fmt::format("; at most {} at once, at event {}; {} at the peak",
                            human_size(selected.peak_live), human_count(selected.peak_event),
                            human_size(selected.at_peak));
}

constexpr std::size_t kPlacesShown = 10;

}  // namespace

std::string to_text(const InfoAnswer& answer, const TextStyle& style) {
  std::string out;
  const auto line = [&](std::string_view name, const std::string& text) {
    return line_of(name, text, style.width);
  };
  const TraceSummary* previous = nullptr;
  for (const TraceSummary& trace : answer.traces) {
    if (previous == nullptr || previous->path != trace.path) {
      std::string about = trace.detail.empty() ? trace.format : trace.detail;
      if (trace.file_bytes) about += ", " + human_size(*trace.file_bytes);
      if (trace.why_no_trace.empty()) about += ", " + devices_phrase(trace);
      if (previous != nullptr) out += '\n';
      out += trace.path.size() < 14 ? line(trace.path, about)
             : trace.path.size() + about.size() + 4 > style.width
                 ? fmt::format(" {}\n", trace.path) + line("", about)
                 : fmt::format(" {}   {}\n", trace.path, about);
    }
    if (!trace.why_no_trace.empty()) {
      if (!trace.lacks.empty()) out += line("lacks", listed(trace.lacks));
      out += line("trust", trust(trace));
      previous = &trace;
      continue;
    }
    if (trace.devices > 1) {
      out += trace.gpu < 0 ? line("device", gpu_label(trace.gpu))
                           : line("gpu", std::to_string(trace.gpu));
    }
    out += line("covers", covers(trace));
    out +=
        line("contains", fmt::format("{}, {}, {}, {}", counted(trace.allocs, "allocation"),
                                     counted(trace.frees, "free"), counted(trace.streams, "stream"),
                                     counted(trace.pools, "pool")) +
                             (trace.threads ? ", " + counted(*trace.threads, "thread") : ""));
    out += line("recorded", recorded(trace));
    const bool asks = !requests_nothing(trace);
    if (trace.state && !asks) out += line("state", state(*trace.state));
    if (!trace.dropped.empty())
      out += line("dropped", by_reason(trace.dropped, trace.first_places));
    if (!trace.synthesised.empty()) {
      out += line("synthesised", by_reason(trace.synthesised, trace.first_places));
    }
    if (!trace.lacks.empty()) out += line("lacks", listed(trace.lacks));
    if (trace.warm_class) out += line("before", before(trace));
    out += line("trust", trust(trace));
    if (trace.warm_class) out += line("next time", better_recording(trace.warm_class == "larger"));
    if (!asks && trace.format.starts_with("torch-")) out += line("next time", how_to_record(trace));
    if (trace.selected) {
      out += line("selected", selected(*trace.selected, trace.allocs));
      const auto& places = trace.selected->places;
      for (std::size_t i = 0; i < std::min(places.size(), kPlacesShown); ++i) {
        out += line("", fmt::format("{} in {}: {}", human_size(places[i].bytes),
                                    counted(places[i].blocks, "block"), places[i].place));
      }
      if (places.size() > kPlacesShown) {
        out += line(
            "", fmt::format("and {} more call sites", human_count(places.size() - kPlacesShown)));
      }
    }
    if (trace.picture) out += '\n' + plot(*trace.picture, "requested", style.unicode, style.width);
    previous = &trace;
  }
  return out;
}

}  // namespace memreplay
