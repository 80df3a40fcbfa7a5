#include "extensions/umpire/umpire_line.hpp"

#include <algorithm>
#include <iterator>

namespace memreplay {
namespace {

struct UmpireField {
  std::string_view object;  ///< in which the key stands; empty: the line itself
  std::string_view key;
  std::string_view UmpireLine::*value;
};

constexpr UmpireField kUmpireFields[] = {
    {"", "category", &UmpireLine::category},
    {"", "kind", &UmpireLine::kind},
    {"", "name", &UmpireLine::name},
    {"", "event", &UmpireLine::name},
    {"", "uid", &UmpireLine::process},
    {"", "timestamp", &UmpireLine::timestamp},
    {"", "result", &UmpireLine::resource},
    {"numeric_args", "size", &UmpireLine::size},
    {"string_args", "allocator_ref", &UmpireLine::allocator},
    {"string_args", "arg0", &UmpireLine::parent},
    {"string_args", "pointer", &UmpireLine::pointer},
    {"string_args", "current_ptr", &UmpireLine::pointer},
    {"string_args", "new_ptr", &UmpireLine::result},
    {"string_args", "allocation_name", &UmpireLine::block_name},
    {"tags", "allocator_name", &UmpireLine::allocator_name},
    {"payload", "allocator_ref", &UmpireLine::allocator},
    {"payload", "allocator_name", &UmpireLine::allocator_name},
    {"payload", "name", &UmpireLine::allocator_name},
    {"payload", "size", &UmpireLine::size},
    {"payload", "ptr", &UmpireLine::pointer},
    {"payload", "memory_ptr", &UmpireLine::pointer},
    {"result", "memory_ptr", &UmpireLine::result},
    {"result", "allocator_ref", &UmpireLine::allocator},
};

/// Walks one line of JSON without copying it: values are as they are written, texts without their
/// quotes.
class UmpireScanner {
 public:
  explicit UmpireScanner(std::string_view text) : rest_(text) {}

  bool line(UmpireLine& line) {
    if (!object({}, &line)) return false;
    skip_blanks();
    return rest_.empty();
  }

 private:
  void skip_blanks() {
    const std::size_t first = rest_.find_first_not_of(" \t");
    rest_.remove_prefix(std::min(first, rest_.size()));
  }

  bool take(char c) {
    skip_blanks();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool text(std::string_view& value) {
    if (!take('"')) return false;
    std::size_t end = 0;
    while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2 : 1;
    if (end >= rest_.size()) return false;
    value = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool literal(std::string_view& value) {
    skip_blanks();
    value = rest_.substr(0, rest_.find_first_of(",]} \t"));
    rest_.remove_prefix(value.size());
    return !value.empty() && value.find_first_of("\"[{:") == value.npos;
  }

  /// `line` is null where no field of the object is looked at.
  bool object(std::string_view name, UmpireLine* line) {
    if (!take('{')) return false;
    if (take('}')) return true;
    do {
      std::string_view key;
      if (!text(key) || !take(':') || !value(name, key, line)) return false;
    } while (take(','));
    return take('}');
  }

  /// `first` is null where nobody looks at the first value, which is a text.
  bool array(std::string_view* first) {
    if (!take('[')) return false;
    if (take(']')) return true;
    skip_blanks();
    if (first != nullptr && rest_.starts_with('"')) {
      if (!text(*first)) return false;
      if (!take(',')) return take(']');
    }
    do {
      if (!value({}, {}, nullptr)) return false;
    } while (take(','));
    return take(']');
  }

  bool value(std::string_view object_name, std::string_view key, UmpireLine* line) {
    skip_blanks();
    if (rest_.empty()) return false;
    if (rest_.front() == '{' || rest_.front() == '[') return nested(object_name, key, line);
    std::string_view written;
    if (rest_.front() == '"' ? !text(written) : !literal(written)) return false;
    if (line == nullptr) return true;
    const auto* field = std::ranges::find_if(kUmpireFields, [&](const UmpireField& known) {
      return known.object == object_name && known.key == key;
    });
    if (field != std::end(kUmpireFields)) line->*(field->value) = written;
    return true;
  }

  bool nested(std::string_view object_name, std::string_view key, UmpireLine* line) {
    constexpr int kDeepestUmpireLine = 20;
    if (++depth_ > kDeepestUmpireLine) return false;
    const bool is_of_the_line = line != nullptr && object_name.empty();
    const bool is_parents = line != nullptr && object_name == "payload" && key == "args";
    const bool good = rest_.front() == '['
                          ? array(is_parents ? &line->parent : nullptr)
                          : object(key, is_of_the_line && !key.empty() ? line : nullptr);
    --depth_;
    return good;
  }

  std::string_view rest_;
  int depth_ = 0;
};

}  // namespace

std::optional<UmpireLine> parse_umpire_line(std::string_view line) {
  UmpireLine fields;
  if (!UmpireScanner(line).line(fields)) return std::nullopt;
  return fields;
}

}  // namespace memreplay
