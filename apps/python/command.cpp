#include "command.hpp"

#include <cstdint>
#include <sstream>
#include <utility>

#include "line/commands.hpp"
#include "line/terminal.hpp"
#include "report/parts/text_style.hpp"
#include "trace/python/python_view.hpp"
#include "trace/reader.hpp"
#include "trace/snapshot/torch_snapshot.hpp"
#include "trace/torch/snapshot_conversion.hpp"

namespace memreplay {
namespace {

namespace py = pybind11;

class HeldBytes final : public RecordingSource {
 public:
  explicit HeldBytes(const py::bytes& content)
      : held_(content), content_(std::string_view(content)) {}

  Recording read(const std::string& name) const override {
    return read_recording(name, content_, {});
  }

 private:
  py::bytes held_;
  std::string_view content_;
};

class HeldSnapshot final : public RecordingSource {
 public:
  explicit HeldSnapshot(TorchSnapshot snapshot) : snapshot_(std::move(snapshot)) {}

  Recording read(const std::string& name) const override {
    return torch_recording(TorchSnapshot(snapshot_), name, std::string(kTorchPickleFormat),
                           "PyTorch snapshot, in memory");
  }

 private:
  TorchSnapshot snapshot_;
};

constexpr TextStyle kPlain = {.unicode = true};

class Listener final : public CommandHost {
 public:
  Listener(const Asked& asked, const std::atomic<bool>& stop, Ran& ran)
      : asked_(asked), stop_(stop), ran_(ran) {}

  void answered(const ReportParts& parts) override {
    ran_.json = parts.json();
    ran_.text = terminal_text(parts.text(kPlain), kPlain);
    if (parts.table) ran_.table = parts.table();
    for (const ReportFormat& format : report_formats()) {
      const bool possible = parts.table || format.needs != ReportFormat::Needs::table;
      if (format.for_people && possible) ran_.markdown = terminal_text(format.write(parts), kPlain);
    }
  }
  std::ostream& output() override { return output_; }
  void note(std::string_view message) override {
    ran_.notes.push_back(terminal_line(message, kPlain));
  }
  const std::atomic<bool>& stop() const override { return stop_; }
  std::optional<Recording> at_hand(const std::string& path) override {
    const auto found = asked_.sources.find(path);
    if (found == asked_.sources.end()) return std::nullopt;
    return found->second->read(path);
  }

  std::string text_of_output() const { return output_.str(); }

 private:
  const Asked& asked_;
  const std::atomic<bool>& stop_;
  Ran& ran_;
  std::ostringstream output_;
};

}  // namespace

Ran run_command(const Asked& asked, const std::atomic<bool>& stop) {
  const Command& command = command_named(asked.command);
  Ran ran;
  Listener listener(asked, stop, ran);
  const CommandHostScope scope(listener);
  ran.status = command.run(command, asked.arguments);
  ran.output = listener.text_of_output();
  return ran;
}

std::unique_ptr<RecordingSource> source_of_bytes(const py::bytes& content) {
  return std::make_unique<HeldBytes>(content);
}

std::unique_ptr<RecordingSource> source_of_snapshot(const py::object& snapshot,
                                                    const std::string& name) {
  SnapshotTexts texts;
  // What is in memory already is as large as it is.
  return std::make_unique<HeldSnapshot>(
      convert_snapshot(PythonView(snapshot), name, texts, UINT64_MAX));
}

}  // namespace memreplay
