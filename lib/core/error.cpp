#include "core/error.hpp"

#include <cctype>

namespace memreplay {
namespace {

// A line number stands close to the file ("trace.csv:14:9"), words apart from it ("x.pickle: byte
// 7").
std::string located(std::string_view file, std::string_view place, std::string_view message) {
  std::string text(file);
  if (!place.empty()) {
    text += std::isdigit(static_cast<unsigned char>(place.front())) ? ":" : ": ";
    text += place;
  }
  return text.append(": ").append(message);
}

}  // namespace

InputError::InputError(std::string_view file, std::string_view place, std::string_view message)
    : std::runtime_error(located(file, place, message)),
      file_(file),
      place_(place),
      message_(message) {}

NotBuilt::NotBuilt(std::string_view what, std::string_view extension)
    : UsageError(std::string(what)
                     .append(" is not in this program, which was built without the extension ")
                     .append(extension)
                     .append(": build it with cmake -DMEMREPLAY_EXTENSIONS=all, or name the "
                             "extension there")) {}

}  // namespace memreplay
