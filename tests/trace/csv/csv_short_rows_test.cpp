#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "trace/csv/csv.hpp"

namespace memreplay {
namespace {

/// What is read, without what the columns are; nothing where it is refused.
std::optional<std::vector<Trace>> read(const std::string& text) {
  try {
    return csv_reader().read({"t.csv", text}, {}).traces;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

// Rows of op, id and size alone are read by a way of their own; a further column has them read by
// the way of all others.
TEST(CsvShortRows, AreReadAsThoseOfMoreColumns) {
  const std::vector<std::string> ops = {"a", "a", "a", "a", "f", "f", "f", "f", "e", "m", "c", "+"};
  const std::vector<std::string> ids = {"1",   "2",
                                        "3",   "03",
                                        "0x2", "\"1\"",
                                        "",    "18446744073709551616",
                                        "1 ",  "12345678901234567890"};
  const std::vector<std::string> sizes = {
      "8", "4096", "123456789", "", "8", "12345678", "4096.0", " 8", "99999999999999999999", "x"};
  std::mt19937 draw(1);
  // Mostly the first ones, which are plain.
  const auto one_of = [&](const std::vector<std::string>& words, std::size_t plain) {
    return words[draw() % (draw() % 8 == 0 ? words.size() : plain)];
  };
  int whole = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = "op,id,size";
    std::string wider = text + ",align";
    const std::string end = draw() % 4 == 0 ? "\r\n" : "\n";
    for (std::size_t row = 0, rows = 1 + draw() % 5; row < rows; ++row) {
      const std::string fields = one_of(ops, 8) + "," + one_of(ids, 3) + "," + one_of(sizes, 3);
      text += end + fields;
      wider += end + fields + ",";
    }
    if (draw() % 2 == 0) text += end, wider += end;
    const auto traces = read(text);
    EXPECT_EQ(traces, read(wider)) << text;
    whole += traces.has_value();
  }
  EXPECT_GT(whole, 2'000);
}

}  // namespace
}  // namespace memreplay
