// What another program needs to ask a question: it links the library, and there is no terminal.

#include <exception>
#include <iostream>

#include "questions/tune/answer.hpp"
#include "questions/tune/tune_report.hpp"
#include "run/inputs.hpp"

int main(int argc, char** argv) try {
  using namespace memreplay;
  if (argc != 2) {
    std::cerr << "usage: tune_json TRACE\n";
    return 2;
  }
  const Inputs inputs({.paths = {argv[1]}});
  TuneQuestion question;
  question.runs = 60;
  std::cout << to_json(answer(inputs, question, {}));
  return 0;
} catch (const std::exception& error) {
  std::cerr << "tune_json: " << error.what() << '\n';
  return 2;
}
