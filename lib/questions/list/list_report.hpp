#pragma once

#include <functional>
#include <string>
#include <vector>

#include "questions/list/answer.hpp"
#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

class JsonFields;

/// A table; the options of one strategy, or the columns of one format, below each other.
std::string to_text(const ListAnswer& answer, const TextStyle& style);
std::string to_json(const ListAnswer& answer);
Table to_table(const ListAnswer& answer);

/// The keys of its JSON.
void fields(JsonFields& f, const ListAnswer& answer);

/// What `--json` prints, under a name of its own.
struct SchemaDocument {
  std::string name;
  std::function<void(JsonFields&)> write;
};

/// The JSON Schema of reports: `list schema`, and the file that the Python package ships.
struct SchemaAnswer {
  std::vector<SchemaDocument> further;
};
std::string to_text(const SchemaAnswer& answer, const TextStyle& style);
std::string to_json(const SchemaAnswer& answer);

}  // namespace memreplay
