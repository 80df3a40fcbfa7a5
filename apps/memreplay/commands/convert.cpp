#include "report/convert/convert.hpp"

#include <iostream>

#include "analysis/convert/answer.hpp"
#include "commands.hpp"
#include "options/convert.hpp"
#include "output/last_words.hpp"
#include "output/output_file.hpp"
#include "output/terminal.hpp"
#include "report/minimise/minimise.hpp"
#include "report/parts/text_style.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

ConvertQuestion question_of(const Conversion& asked) {
  ConvertQuestion question = asked.question;
  if (asked.replays()) question.strategy = asked.run.strategies.front();
  if (asked.minimise.wanted) question.minimise = asked.minimise.question;
  question.setup = asked.run.setup;
  question.with_addresses = asked.writer->needs_addresses;
  question.one_device = asked.writer->one_device;
  return question;
}

void say(const ConvertAnswer& answered, const Conversion& asked) {
  const std::string& target = asked.target.text();
  if (answered.minimised) {
    if (asked.target.is_stdout()) {
      const TextStyle style = stderr_style();
      std::cerr << terminal_text(to_text(*answered.minimised, target, style), style);
    } else {
      const TextStyle style = terminal_style(asked.colour);
      write_stdout(to_text(*answered.minimised, target, style), style);
    }
  }
  for (const std::string& text : remarks(answered, target)) write_stderr(text);
}

void finish(OutputFile& out, const std::string& target, const Losses& losses) {
  out.commit();
  for (const std::string& loss : losses) write_stderr(target + ": " + loss);
}

int copy(const Conversion& asked, OutputFile& out) {
  const InputOptions& input = asked.question.input;
  const auto content = [&](ValueWriter& writer) {
    copy_recording(input.paths.front(), input.read, writer);
  };
  finish(out, asked.target.text(), asked.writer->write_value(content, out.stream()));
  return kDone;
}

/// False where the recording has to be held in memory.
bool stream(const Conversion& asked, OutputFile& out) {
  if (!asked.streams()) return false;
  const InputOptions& input = asked.question.input;
  std::unique_ptr<EventSink> sink;
  const auto begin = [&]() -> EventSink& { return *(sink = asked.writer->open(out.stream())); };
  if (!stream_recording(input.paths.front(), input.read, begin)) return false;
  out.commit();
  return true;
}

}  // namespace

int run_convert(const Command& command, const std::vector<std::string>& arguments) {
  const Conversion asked = parse_conversion(command, arguments);
  set_recording(asked.question.input.paths.front());
  OutputFile out(asked.target);
  if (asked.copies()) return copy(asked, out);
  if (stream(asked, out)) return kDone;

  Progress progress(false);
  const bool takes_long = asked.replays() || asked.minimise.wanted;
  const ConvertAnswer answered =
      answer(question_of(asked), takes_long ? progress.control() : Control());
  progress.clear();
  if (answered.recording) {
    finish(out, asked.target.text(), asked.writer->write(*answered.recording, out.stream()));
  }
  say(answered, asked);
  if (!answered.recording) return kInterrupted;
  return answered.interrupted ? kInterrupted : kDone;
}

}  // namespace memreplay
