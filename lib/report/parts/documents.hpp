#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "report/parts/json_fields.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {

/// The documents that a program may meet, each under a name of its own.
class Documents {
 public:
  template <typename Write>
  void add(const std::string& name, Write write) {
    JsonFields f(definitions_);
    write(f);
    f.called(name);
    any_.push_back(f.type().schema(""));
  }

  template <typename Answer>
  void add(const std::string& name) {
    add(name, [](JsonFields& f) { fields(f, Answer()); });
  }

  /// A result for each recording: alone where there is one, else several with the index of the
  /// worst. `rest` names what else stands beside several.
  template <typename Write, typename Rest>
  void add_results(const std::string& command, Write write, Rest rest) {
    add(command + "_result", write);
    add(command + "_results", [&](JsonFields& f) {
      head_fields(f, command);
      JsonType results{"array"};
      results.rest["items"]["$ref"] = "#/$defs/" + command + "_result";
      f.typed("results", nullptr, results, "a result for each recording and device");
      f("worst", std::optional<std::size_t>(), "the index of the worst; null: there is none");
      rest(f);
    });
  }

  template <typename Write>
  void add_results(const std::string& command, Write write) {
    add_results(command, write, [](JsonFields&) {});
  }

  template <typename Result>
  void add_results(const std::string& command) {
    add_results(command, [](JsonFields& f) { fields(f, Result()); });
  }

  Json schema() const {
    Json schema;
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
    schema["title"] = "memreplay/1";
    schema["description"] =
        "What --json prints for check, compare, diff, explain, fit, info, lint, list, plan, ranks, "
        "record, replay, stress, suggest, tune and verify. Sizes are bytes; an unknown is null.";
    schema["anyOf"] = any_;
    schema["$defs"] = definitions_;
    return schema;
  }

 private:
  Json definitions_ = Json::object();
  Json any_ = Json::array();
};

}  // namespace memreplay
