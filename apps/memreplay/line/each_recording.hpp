#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "line/terminal.hpp"
#include "run/inputs.hpp"

namespace memreplay {

/// Reads recordings, which shows how far it is; `behind` as Inputs has it.
Inputs read_inputs(InputOptions input, Progress& progress,
                   OnUnreadable behind = OnUnreadable::stop);

/// The recordings one by one, for who asks each of them the same.
class EachRecording {
 public:
  EachRecording(const InputOptions& input, Progress& progress)
      : input_(input), progress_(progress) {}

  /// Asks `ask(one)` of several at once, on any thread, and hands over the answers in order;
  /// `use(answer)` is false to end it. Where one cannot be read, the reason is said and the others
  /// go on. kDone, or kUnusable where there was such a one.
  template <class Ask, class Use>
  int ask(const Ask& ask, const Use& use);

 private:
  InputOptions one(std::size_t i, std::vector<std::string>& notes);
  void set_waiting(bool waiting);
  void tell(const std::vector<std::string>& notes) const;
  /// In its handler: where a command has a host, it is for that.
  void tell(const InputError& error);

  const InputOptions& input_;
  Progress& progress_;
  std::mutex showing_;
  bool waiting_ = false;  ///< for an answer; else what is read ahead is not shown
  int status_ = 0;
};

template <class Ask, class Use>
int EachRecording::ask(const Ask& ask, const Use& use) {
  const std::size_t count = input_.paths.size();
  std::vector<std::vector<std::string>> notes(count);
  WorkAhead<decltype(ask(input_))> answers(count, readers_at_once(input_),
                                           [&](std::size_t i) { return ask(one(i, notes[i])); });
  for (std::size_t i = 0; i < count; ++i) {
    set_waiting(true);
    answers.wait();
    set_waiting(false);
    tell(notes[i]);
    try {
      if (!use(answers.take())) break;
    } catch (const InputError& error) {
      tell(error);
    }
  }
  return status_;
}

}  // namespace memreplay
