#pragma once

#include <string>
#include <vector>

#include "extensions/what_if/find/answer.hpp"
#include "report/parts/table.hpp"

namespace memreplay {

/// What the text and the page of a search both say.

/// "RTX-3080-10GB", or how large it is.
std::string device_name(const DeviceSummary& device);
/// "RTX-3080-10GB, 9502 MiB usable"
std::string device_with_room(const DeviceSummary& device);

std::string value_name(std::int64_t value);
/// "≈ 62 MiB (40 MiB to 62 MiB)"
std::string reserved_text(const ValueTried& tried);
/// Without the values above the largest one that were only looked at to be sure. Ascending.
std::vector<const ValueTried*> values_shown(const FoundValue& found);

/// What was found, a sentence or two for each strategy on each device.
std::vector<std::string> found_sentences(const FindAnswer& answer);
/// "torch on T4"
std::string found_name(const FoundValue& found);
/// A row for each strategy on each device.
Table largest_table(const FindAnswer& answer);
Table curve_table(const FoundValue& found, const PredictionFacts& facts);
std::string held_back_sentence(const FindAnswer& answer);
Table held_back_table(const FindAnswer& answer);
/// What it all rests on.
std::vector<std::string> closing_sentences(const FindAnswer& answer);

}  // namespace memreplay
