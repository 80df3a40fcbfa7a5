#pragma once

#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/recorded/inputs.hpp"
#include "analysis/work_ahead.hpp"
#include "output/terminal.hpp"

namespace memreplay {

/// Reads recordings, which shows how far it is; `behind` as Inputs has it.
Inputs read_inputs(InputOptions input, Progress& progress,
                   OnUnreadable behind = OnUnreadable::stop);

/// What was asked of one recording, or why it cannot be read, to be told in its turn.
template <class Answer>
struct AskedRecording {
  std::optional<Answer> answer;
  std::exception_ptr failure;
  std::vector<std::string> notes;
};

/// The recordings one by one, for who asks each of them the same.
class EachRecording {
 public:
  EachRecording(const InputOptions& input, Progress& progress)
      : input_(input), progress_(progress) {}

  /// Asks `ask(one)` of several at once, on any thread, and hands over the answers in order;
  /// `use(answer)` is false to end it. Of one that cannot be read is said why, and the others go
  /// on. kDone, or kUnusable where there was such a one.
  template <class Ask, class Use>
  int ask(const Ask& ask, const Use& use);

 private:
  InputOptions one(std::size_t i, std::vector<std::string>& notes);
  void set_waiting(bool waiting);
  void tell(const std::vector<std::string>& notes) const;
  /// Throws where it is not that a recording cannot be read.
  void tell(std::exception_ptr failure);

  const InputOptions& input_;
  Progress& progress_;
  std::mutex showing_;
  bool waiting_ = false;  ///< for an answer; else what is read ahead is not shown
  int status_ = 0;
};

template <class Ask, class Use>
int EachRecording::ask(const Ask& ask, const Use& use) {
  using Answer = decltype(ask(input_));
  WorkAhead<AskedRecording<Answer>> asked(
      input_.paths.size(), readers_at_once(input_), [&](std::size_t i) {
        AskedRecording<Answer> recording;
        try {
          recording.answer.emplace(ask(one(i, recording.notes)));
        } catch (...) {
          recording.failure = std::current_exception();
        }
        return recording;
      });
  for (std::size_t left = input_.paths.size(); left > 0; --left) {
    set_waiting(true);
    AskedRecording<Answer> recording = asked.take();
    set_waiting(false);
    tell(recording.notes);
    if (recording.failure) {
      tell(recording.failure);
    } else if (!use(std::move(*recording.answer))) {
      break;
    }
  }
  return status_;
}

}  // namespace memreplay
