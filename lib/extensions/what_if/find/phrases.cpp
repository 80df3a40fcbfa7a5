#include "extensions/what_if/find/phrases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/text.hpp"
#include "report/parts/prediction.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

const ValueTried* tried_at(const FoundValue& found, std::int64_t value) {
  const auto at = std::ranges::find(found.tried, value, &ValueTried::value);
  return at == found.tried.end() ? nullptr : &*at;
}

bool is_recorded(const FoundValue& found, std::int64_t value) {
  const ValueTried* tried = tried_at(found, value);
  return tried != nullptr && tried->recorded;
}

std::string largest_text(const FoundValue& found) {
  if (!found.largest) return "none";
  return (found.unbounded ? "at least " : "") + value_name(*found.largest);
}

/// "52", or "49 to 55" where it is not known.
std::string largest_range(const FoundValue& found) {
  if (!found.may_fit) return largest_text(found);
  return fmt::format("{} to {}", found.largest ? value_name(*found.largest) : "none",
                     value_name(*found.may_fit));
}

std::string fits_text(const ValueTried& tried) {
  if (tried.fits) return "fits";
  return tried.may_fit ? "may fit" : "does not fit";
}

std::string answer_sentence(const FindAnswer& answer, const FoundValue& found) {
  const std::string& name = answer.facts.name;
  const std::string device = device_name(found.device);
  if (found.interrupted) {
    return found.largest
               ? fmt::format("{} = {} fits {} under {}; larger values were not all tried.", name,
                             largest_text(found), device, found.strategy)
               : fmt::format("{}: no {} was found that fits {} before the interruption.",
                             found.strategy, name, device);
  }
  if (!found.largest) {
    return fmt::format(
        "{}: {} = 1 {} fit {}{}.", found.strategy, name,
        found.may_fit ? "may or may not" : "does not", device,
        found.may_fit ? fmt::format("; up to {} may", value_name(*found.may_fit)) : "");
  }
  if (found.unbounded) {
    return fmt::format("{}: fits {} at every {} that was tried; the largest is {}.", found.strategy,
                       device, name, largest_text(found));
  }
  const std::string beyond = beyond_phrase(answer.facts, *found.largest);
  const std::int64_t largest = found.usually.value_or(*found.largest);
  std::string said = fmt::format("{} {} {} is the largest that fits {} under {}", name,
                                 is_recorded(found, largest) ? "=" : "≈",
                                 found.usually ? value_name(largest) : largest_text(found), device,
                                 found.strategy);
  if (found.usually && found.may_fit) {
    said += fmt::format(" beside {} set aside, {} in the worst case; up to {} may fit",
                        human_size(found.device.reserve), largest_text(found),
                        value_name(*found.may_fit));
  } else if (found.may_fit) {
    said += fmt::format(" in the worst case; up to {} may fit", value_name(*found.may_fit));
  }
  return said + (beyond.empty() ? "." : fmt::format(": {}.", beyond));
}

std::string fails_below_sentence(const FindAnswer& answer, const FoundValue& found) {
  return fmt::format(
      "{}: {} = {} does not fit although {} does: the program behaves differently between them.",
      found.strategy, answer.facts.name, *found.fails_below, *found.largest);
}

double off_by(Bytes predicted, Bytes recorded) {
  if (recorded == 0) return 0;
  return 100 * (static_cast<double>(predicted) / static_cast<double>(recorded) - 1);
}

std::string percent_off(Bytes predicted, Bytes recorded) {
  const double off = off_by(predicted, recorded);
  return predicted == recorded ? std::string("exact") : fmt::format("{:+.2f} %", off);
}

/// Why the curve may pass the device's line where a value fits.
std::string endless_sentence(const FindAnswer& answer) {
  const auto fits_above = [](const FoundValue& found) {
    return std::ranges::any_of(values_shown(found), [&](const ValueTried* tried) {
      return tried->fits && tried->peak_reserved > found.device.usable();
    });
  };
  if (std::ranges::none_of(answer.found, fits_above)) return {};
  return "Peaks are for a device without limit. A value may fit although its peak is larger than "
         "the device: the allocator then reserves less.";
}

}  // namespace

std::string device_name(const DeviceSummary& device) {
  return device.name.value_or(device.capacity ? human_size(*device.capacity) : device.text);
}

std::string device_with_room(const DeviceSummary& device) {
  const bool told = !device.name && device.reserve == 0;
  return device_name(device) +
         (told ? "" : fmt::format(", {} usable", human_size(device.usable())));
}

std::string value_name(std::int64_t value) {
  return human_count(static_cast<std::uint64_t>(value));
}

std::string reserved_text(const ValueTried& tried) {
  const bool open =
      tried.interval && tried.interval->peak_reserved.low < tried.interval->peak_reserved.high;
  return open ? estimated_text(tried.peak_reserved, tried.interval->peak_reserved)
              : human_size(tried.peak_reserved);
}

std::vector<const ValueTried*> values_shown(const FoundValue& found) {
  std::vector<const ValueTried*> shown;
  const std::int64_t next = found.largest.value_or(0) + 1;
  for (const ValueTried& tried : found.tried) {
    const bool asked_for = tried.value <= next || tried.recorded || &tried == &found.tried.back();
    if (asked_for) shown.push_back(&tried);
  }
  return shown;
}

std::vector<std::string> found_sentences(const FindAnswer& answer) {
  std::vector<std::string> said;
  for (const FoundValue& found : answer.found) {
    said.push_back(answer_sentence(answer, found));
    if (found.fails_below) said.push_back(fails_below_sentence(answer, found));
  }
  return said;
}

std::string found_name(const FoundValue& found) {
  return fmt::format("{} on {}", found.strategy, device_name(found.device));
}

Table largest_table(const FindAnswer& answer) {
  Table table{{left("strategy"), left("device"), "largest " + answer.facts.name, "retries there",
               "reserved there"}};
  for (const FoundValue& found : answer.found) {
    const ValueTried* there = found.largest ? tried_at(found, *found.largest) : nullptr;
    table.add(found.strategy, device_name(found.device), largest_range(found),
              there != nullptr ? human_count(there->oom_retries) : "-",
              there != nullptr ? reserved_text(*there) : "-");
  }
  return table;
}

Table curve_table(const FoundValue& found, const PredictionFacts& facts) {
  Table table{{facts.name, "requested", "allocated", "reserved", left("")}};
  for (const ValueTried* tried : values_shown(found)) {
    std::string said = fits_text(*tried);
    if (tried->recorded) said += ", recorded";
    if (!beyond_phrase(facts, tried->value).empty()) said += ", extrapolated";
    table.add(value_name(tried->value), human_size(tried->peak_requested),
              human_size(tried->peak_allocated), reserved_text(*tried), said);
  }
  return table;
}

std::string held_back_sentence(const FindAnswer& answer) {
  return fmt::format("Held back: each recording predicted from the others, under {}.",
                     answer.found.empty() ? "it" : answer.found[0].strategy);
}

Table held_back_table(const FindAnswer& answer) {
  Table table{{answer.facts.name, "requested", "predicted", "reserved", "predicted"}};
  for (const HeldBack& held : answer.held_back) {
    table.add(value_name(held.value), human_size(held.requested),
              percent_off(held.requested_predicted, held.requested), human_size(held.reserved),
              percent_off(held.reserved_predicted, held.reserved));
  }
  return table;
}

std::vector<std::string> closing_sentences(const FindAnswer& answer) {
  std::vector<std::string> said = set_aside_sentences(
      answer.set_aside.value_or(SetAside{.others = answer.reserve}), "each device");
  if (std::string endless = endless_sentence(answer); !endless.empty()) {
    said.push_back(std::move(endless));
  }
  for (const EditFacts& edit : answer.edits) {
    said.push_back(fmt::format("At {} = {} {}.", answer.facts.name, value_name(answer.facts.value),
                               edit_phrase(edit)));
  }
  std::ranges::move(prediction_sentences(answer.facts), std::back_inserter(said));
  if (answer.interrupted) said.emplace_back("Interrupted: this answer is incomplete.");
  return said;
}

}  // namespace memreplay
