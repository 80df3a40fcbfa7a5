#pragma once

#include <iosfwd>
#include <string>

namespace memreplay {

/// Answers questions about graphs by the cuDNN in this folder, which is asked without a device (its
/// "deviceless" mode, from 9.8 on): a line on `answers` for each line on `questions`. `driver` is
/// what stands for libcuda.so.1 (cudnn_driver.cpp); empty: the machine's, where it has one.
///
/// A question is a mode of the heuristics, a card as JSON and a graph, with tabulators in between;
/// what the JSON holds is in gpu/cudnn_questions.cpp. A graph is descriptors with a semicolon after
/// each, the graph itself last: "KIND NAME:TYPE:COUNT:VALUE ..." by cuDNN's own numbers. A value is
/// bytes in hexadecimal, or the places of descriptors that stand before it, with commas in between.
///
/// An answer is "ok VERSION" and a word for each engine that has a plan, the library's preferred
/// one first: "INDEX:WORKSPACE:NUMERICAL,NOTES:BEHAVIOUR,NOTES"; or "error " and why there is none.
/// To "MODE#PLACE" it has, instead of all words, the plan of the engine at that place, from 0 on,
/// as the library's JSON.
/// The library may end the process that asks it.
void answer_graphs(const std::string& folder, const std::string& driver, std::istream& questions,
                   std::ostream& answers);

}  // namespace memreplay
