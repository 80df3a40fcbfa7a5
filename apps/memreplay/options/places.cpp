#include "options/places.hpp"

#include "core/error.hpp"

namespace memreplay {

void add_place_options(CommandLine& line, PlaceBy& by, std::size_t& rows) {
  line.value("--by", "place|function|file|module",
             "What counts as one place: a line, or all of a function, file, folder or package. "
             "Default: place.",
             [&by](const std::string& text) {
               by = static_cast<PlaceBy>(
                   choice_argument("--by", text, {"place", "function", "file", "module"}));
             });
  line.value("--top", "N", "Show N rows of each table. Default: 10.",
             [&rows](const std::string& text) {
               rows = whole_argument("--top", text);
               if (rows == 0) throw UsageError("--top is 0; expected a whole number from 1 on");
             });
}

}  // namespace memreplay
