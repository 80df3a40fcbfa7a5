#include "line/commands.hpp"
#include "questions/list/list_report.hpp"

namespace memreplay {

std::vector<SchemaDocument> recorded_documents() { return {}; }

}  // namespace memreplay
