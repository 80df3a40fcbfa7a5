#pragma once

#include <ostream>
#include <string>

#include "extensions/what_if/find/answer.hpp"
#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

class JsonFields;

/// The largest value for each strategy and device, what each value needs, and how well values that
/// were recorded are predicted from the others.
std::string to_text(const FindAnswer& answer, const TextStyle& style);
/// The schema "memreplay/1" with a run for each strategy on each device.
std::string to_json(const FindAnswer& answer);
/// A row for each value that was tried: exact bytes.
Table to_table(const FindAnswer& answer);
std::string to_markdown(const FindAnswer& answer);
/// A page with the curves as pictures, one for each device, above the text's tables.
void write_page(const FindAnswer& answer, std::ostream& out);

/// The keys of its JSON.
void fields(JsonFields& f, const FindAnswer& answer);

/// Peaks by the value of the parameter in characters, less than 80 columns and at most 14 lines:
/// reserved over requested, other columns for values that do not fit, the device as a line, the
/// largest value that fits named above, recorded values marked under the axis. A column in which no
/// value was tried is empty. Without `unicode` in ASCII.
std::string value_plot(const FoundValue& found, const std::string& name, bool unicode,
                       std::size_t width = 80);

}  // namespace memreplay
