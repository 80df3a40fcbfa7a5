#include "command.hpp"

#include <sstream>

#include "commands.hpp"
#include "output/command_host.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {
namespace {

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
  void note(std::string_view message) override { ran_.notes.emplace_back(message); }
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

}  // namespace memreplay
