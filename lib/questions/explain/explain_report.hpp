#pragma once

#include <string>
#include <vector>

#include "questions/explain/answer.hpp"
#include "report/formats/format.hpp"
#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

class JsonFields;

/// A device's part of the text before a search for a setting that helps: the verdict, its figures,
/// the places that hold memory.
std::string explained_text(const ExplainedDevice& device, const TextStyle& style);
/// The rest of its part, after that search. `before` lines of the device stand above.
std::string searched_text(const ExplainedDevice& device, const TextStyle& style,
                          std::size_t before);

std::string to_text(const ExplainAnswer& answer, const TextStyle& style);
/// The schema "memreplay/1" with a result for each device. `worst` is the first with an OOM.
std::string to_json(const ExplainAnswer& answer);
/// A row for every place that is live or pins memory; where that is asked for, for every phase, or
/// for every place that grows.
Table to_table(const ExplainAnswer& answer);
std::string to_markdown(const ExplainAnswer& answer);
/// The stacks of each device for which they were asked; named where there are several.
std::vector<NamedProfile> to_stacks(const ExplainAnswer& answer);

/// The keys of its JSON.
void fields(JsonFields& f, const ExplainedDevice& device);

}  // namespace memreplay
