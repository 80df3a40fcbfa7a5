#pragma once

#include <string>

#include "questions/check/check_report.hpp"

/// How the reports of a check say the same things.
namespace memreplay {

/// "5328 MiB", "3"
std::string shown(const CheckedMetric& metric, std::uint64_t value);

/// "+4.5 %" on the baseline; "-" where that is 0.
std::string change_in_percent(const CheckedValue& value);
/// "5100 MiB"; "-" where the baseline does not have the metric.
std::string baseline_phrase(const CheckedValue& value);

/// "5328 MiB > 5202 MiB (baseline 5100 MiB + 2 %; +4.5 %)", or within "5179 MiB (+0.0 %, limit 5282
/// MiB)".
std::string value_phrase(const CheckedValue& value);

/// "first above at event 1,902, step 3"; empty where it is not known.
std::string place_phrase(const CheckedValue& value);

/// "model.py:88 MLP.forward +96 MiB"
std::string growth_phrase(const PlaceGrowth& growth);

/// Why no place stands below a value that is over its limit; empty where one does.
std::string no_growth_phrase(const EntryCheck& entry);

/// "run.pickle", and what is not as it usually is: "run.pickle, gpu 1, bfc on 24 GiB"
std::string entry_phrase(const EntryCheck& entry);
std::string entry_phrase(const BaselineEntry& entry);

/// "2 of 6 values are over their limits."
std::string verdict_sentence(const CheckAnswer& answer);

/// What the figures of this entry leave out or only estimate. Empty: nothing.
std::string doubt_sentences(const EntryCheck& check);

}  // namespace memreplay
