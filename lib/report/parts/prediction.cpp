#include "report/parts/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

constexpr double kTimesTold = 1.5;

/// "2, 4 and 8"
std::string values_of(const PredictionFacts& facts) {
  std::string text;
  for (std::size_t i = 0; i < facts.sources.size(); ++i) {
    if (i > 0) text += i + 1 == facts.sources.size() ? " and " : ", ";
    text += std::to_string(facts.sources[i].value);
  }
  return text;
}

/// "18 blocks grow"
std::string grown_phrase(std::uint64_t blocks) {
  return counted(blocks, "block") + (blocks == 1 ? " grows" : " grow");
}

/// The source that parts first from the one that gave the order.
const PredictionSource* first_to_part(const PredictionFacts& facts) {
  const PredictionSource* first = nullptr;
  for (const PredictionSource& source : facts.sources) {
    if (source.parts_at && (first == nullptr || *source.parts_at < *first->parts_at)) {
      first = &source;
    }
  }
  return first;
}

std::string parting_sentence(const PredictionFacts& facts, const PredictionSource& other) {
  const PredictionSource& structure = facts.sources[facts.structure];
  const std::uint64_t without = structure.requests - other.paired;
  std::string sentence = fmt::format("The recordings diverge at event {} of {}",
                                     human_count(other.parts_at->first), structure.path);
  if (!other.place.empty()) sentence += fmt::format(" ({})", other.place);
  if (without > 0) {
    sentence +=
        fmt::format(": {} of {} {} no counterpart in {}", counted(without, "request"),
                    human_size(other.unpaired_bytes), without == 1 ? "has" : "have", other.path);
  } else {
    sentence += ", where " + other.path + " continues differently";
  }
  const bool between = (facts.value > std::min(other.value, structure.value)) ==
                       (facts.value < std::max(other.value, structure.value));
  if (between) {
    return sentence +
           fmt::format(". A recording between the two would show which way {} = {} goes.",
                       facts.name, facts.value);
  }
  return sentence + fmt::format(
                        ". Predictions {} {} = {} assume no further divergence; record one closer "
                        "to {} to confirm.",
                        facts.value > structure.value ? "above" : "below", facts.name,
                        structure.value, facts.value);
}

using PartsAt = std::optional<std::pair<std::uint64_t, std::uint64_t>>;

void source_fields(JsonFields& f, const PredictionSource& source) {
  f("path", source.path, "its file");
  f("value", source.value, "of the parameter");
  f("requests", source.requests, "how many it makes");
  f("requests_paired", source.paired, "those with a counterpart in the one that gave the order");
  f("unpaired_bytes", source.unpaired_bytes, "requested by the others");
  const auto parts = [&](JsonFields& at, const PartsAt::value_type& events) {
    at("event", events.first, "in the one that gave the order");
    at("event_there", events.second, "in this one");
    at("place", unless_empty(source.place), "the call site");
  };
  f("parts_at", each(source.parts_at, parts), "where the two diverge");
}

}  // namespace

std::string beyond_phrase(const PredictionFacts& facts, std::int64_t value) {
  const double times = facts.times_beyond(value);
  if (times < kTimesTold) return {};
  const std::string told =
      times < 10 ? fmt::format("{:.2g}", times) : human_count(static_cast<std::uint64_t>(times));
  return value > facts.sources.back().value
             ? fmt::format("{} times the largest recorded value", told)
             : fmt::format("the smallest recorded value is {} times as large", told);
}

std::string prediction_name(const PredictionFacts& facts) {
  if (facts.recorded()) return fmt::format("{} = {}, recorded", facts.name, facts.value);
  const std::string beyond = beyond_phrase(facts, facts.value);
  return fmt::format("{} = {}, predicted from {} = {}{}", facts.name, facts.value, facts.name,
                     values_of(facts), beyond.empty() ? "" : ", " + beyond);
}

std::vector<std::string> prediction_sentences(const PredictionFacts& facts) {
  const PredictionSource& structure = facts.sources[facts.structure];
  std::vector<std::string> sentences;
  for (const LeftOutSource& left_out : facts.left_out) {
    sentences.push_back(fmt::format(
        "{} = {} ({}) ended in an OOM at event {}, before one whole step is known: left out.",
        facts.name, left_out.value, left_out.path, human_count(left_out.oom)));
  }
  if (facts.recorded()) return sentences;
  sentences.push_back(fmt::format(
      "Its requests have the order of {} = {} ({}) and sizes derived from all recordings.",
      facts.name, structure.value, structure.path));
  if (const PredictionSource* other = first_to_part(facts)) {
    sentences.push_back(parting_sentence(facts, *other));
  }
  if (facts.staged_sums > 0) {
    sentences.push_back(
        fmt::format("{} over rows (gradients of biases) gain or lose staging memory at {} = {}, as "
                    "in PyTorch's kernel on a GPU with 132 multiprocessors.",
                    counted(facts.staged_sums, "sum"), facts.name, facts.value));
  }
  if (facts.open_sizes > 0) {
    sentences.push_back(
        fmt::format("{} do not show how {} (a square, a padding, a library's workspace): the "
                    "interval covers each way.",
                    counted(facts.sources.size(), "recording"), grown_phrase(facts.open_sizes)));
  }
  if (facts.without_law > 0) {
    sentences.push_back(fmt::format("The sizes of {} follow no rule and are guessed.",
                                    counted(facts.without_law, "request")));
  }
  return sentences;
}

void fields(JsonFields& f, const LeftOutSource& source) {
  f("path", source.path, "its file");
  f("value", source.value, "of the parameter");
  f("oom_event", source.oom, "at which it ends, before one whole step is known");
}

void fields(JsonFields& f, const PredictionFacts& facts) {
  f.called("prediction");
  const bool known = facts.structure < facts.sources.size();
  f("name", facts.name, "the parameter's");
  f("value", facts.value, "asked for");
  f("order_of", known ? facts.sources[facts.structure].value : 0,
    "the value of the recording that gave the order of events");
  f("recorded", known && facts.recorded(), "a recording has this value");
  f("sources", each(facts.sources, source_fields), "the recordings it rests on, by value");
  f("left_out", facts.left_out, "recordings that do not show the need");
  f("requests_without_law", facts.without_law, "requests whose sizes are guessed");
  f("blocks_with_open_sizes", facts.open_sizes, "blocks that may follow more than one rule");
  f("staged_sums", facts.staged_sums, "sums of rows that gain or lose staging at this value");
}

}  // namespace memreplay
