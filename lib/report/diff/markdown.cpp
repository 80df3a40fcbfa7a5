#include "report/diff/diff.hpp"
#include "report/formats/format.hpp"

namespace memreplay {

std::string to_markdown(const RecordingsAnswer& answer) {
  return answer_and_table(to_text(answer, {}), to_table(answer));
}

std::string to_markdown(const StrategiesAnswer& answer) {
  return answer_and_table(to_text(answer, {}), to_table(answer));
}

}  // namespace memreplay
