#include <fmt/format.h>

#include <bit>
#include <optional>

#include "trace/decompress.hpp"
#include "trace/pickle/pickle_machine.hpp"
#include "trace/pickle/pickle_value.hpp"
#include "trace/snapshot/snapshot_checks.hpp"
#include "trace/snapshot/torch_snapshot.hpp"
#include "trace/torch/plain_copy.hpp"
#include "trace/torch/snapshot_conversion.hpp"

namespace memreplay {
namespace {

/// A value of a pickle as snapshot_conversion.hpp wants it.
class PickleView {
 public:
  PickleView(PickleStore& store, PickleValue value) : store_(&store), value_(value) {}

  ValueKind kind() const {
    switch (value_.tag) {
      case PickleTag::none:
        return ValueKind::none;
      case PickleTag::boolean:
        return ValueKind::boolean;
      case PickleTag::whole:
      case PickleTag::whole_above_2_63:
      case PickleTag::huge:
      case PickleTag::huge_decimal:
        return ValueKind::whole;
      case PickleTag::real:
        return ValueKind::real;
      case PickleTag::text:
        return ValueKind::text;
      case PickleTag::pair:
      case PickleTag::tuple:
      case PickleTag::stack:
      case PickleTag::list:
        return ValueKind::list;
      case PickleTag::frame:
      case PickleTag::entry:
      case PickleTag::dict:
        return ValueKind::dict;
      default:
        return ValueKind::other;
    }
  }

  bool boolean() const { return value_.bits != 0; }
  double real() const { return std::bit_cast<double>(value_.bits); }
  std::string_view text() const { return value_.text(); }
  WholeNumber whole() const {
    if (value_.tag == PickleTag::whole) {
      return WholeNumber::of(static_cast<std::int64_t>(value_.bits));
    }
    return {value_.bits, false, value_.tag != PickleTag::whole_above_2_63};
  }

  std::size_t size() const {
    if (value_.tag == PickleTag::pair) return 2;
    const PickleRange* entries = range();
    return entries != nullptr ? entries->count : items().size();
  }
  PickleView item(std::size_t i) const {
    if (value_.tag == PickleTag::pair) {
      const PoolId id = store_->texts.pool_id(value_.index);
      return {*store_, {.tag = PickleTag::whole, .bits = i == 0 ? id.first : id.second}};
    }
    if (const PickleRange* entries = range()) {
      const auto offset = static_cast<std::uint32_t>(i);
      return {*store_, {.tag = PickleTag::entry, .index = entries->first + offset}};
    }
    return {*store_, items()[i]};
  }

  std::optional<PickleView> find(Word key) const {
    return last_value([&](const PickleValue& k) { return k.word == key; });
  }
  std::optional<PickleView> find(std::string_view key) const {
    return last_value(
        [&](const PickleValue& k) { return k.tag == PickleTag::text && k.text() == key; });
  }

  std::uintptr_t identity() const {
    return value_.tag == PickleTag::list ? std::uintptr_t{value_.index} + 1 : 0;
  }

  const TorchEntry* ready_entry() const {
    if (value_.tag == PickleTag::entry) return &store_->entries[value_.index];
    const PickleObject* dict = object(PickleTag::dict, PickleObject::Form::entry);
    return dict == nullptr ? nullptr : &store_->entries[dict->at];
  }
  std::optional<std::uint32_t> ready_frame() const {
    if (value_.tag == PickleTag::frame) return value_.index;
    const PickleObject* dict = object(PickleTag::dict, PickleObject::Form::frame);
    return dict == nullptr ? std::nullopt : std::optional(dict->at);
  }
  std::optional<std::uint32_t> ready_stack() const {
    if (value_.tag == PickleTag::stack) return value_.index;
    const PickleObject* list = object(PickleTag::list, PickleObject::Form::stack);
    return list == nullptr ? std::nullopt : std::optional(list->at);
  }
  std::optional<std::uint32_t> ready_pool() const {
    return value_.tag == PickleTag::pair ? std::optional(value_.index) : std::nullopt;
  }
  std::uint64_t ready_entry_words() const { return store_->entry_words; }

  /// Hands over the store's entries where this list holds the first of them in order.
  bool take_ready_entries(std::vector<TorchEntry>& into) const {
    const PickleRange* entries = range();
    if (entries == nullptr || entries->first != 0) return false;
    store_->entries.resize(entries->count);
    into = std::move(store_->entries);
    return true;
  }

 private:
  const PickleObject* object(PickleTag tag, PickleObject::Form form) const {
    if (value_.tag != tag) return nullptr;
    const PickleObject& found = store_->objects[value_.index];
    return found.form == form ? &found : nullptr;
  }

  const PickleRange* range() const {
    const PickleObject* list = object(PickleTag::list, PickleObject::Form::range);
    return list == nullptr ? nullptr : &store_->ranges[list->at];
  }

  const std::vector<PickleValue>& items() const {
    static const std::vector<PickleValue> kNothing;
    const bool converted = value_.tag == PickleTag::frame || value_.tag == PickleTag::entry ||
                           value_.tag == PickleTag::stack;
    if (converted) throw NeedsPlainValues{};
    const PickleObject& object = store_->objects[value_.index];
    if (object.form == PickleObject::Form::empty) return kNothing;
    if (object.form != PickleObject::Form::plain) throw NeedsPlainValues{};
    return store_->contents[object.at];
  }

  /// The value of a key of a dict. Where keys are equal the last one counts, as in Python.
  template <class Matches>
  std::optional<PickleView> last_value(Matches&& matches) const {
    const auto& pairs = items();
    for (std::size_t i = pairs.size(); i >= 2; i -= 2) {
      if (matches(pairs[i - 2])) return PickleView(*store_, pairs[i - 1]);
    }
    return std::nullopt;
  }

  PickleStore* store_;
  PickleValue value_;
};

TorchSnapshot read_once(const Input& input, bool converts_early) {
  PickleStore store(converts_early);
  const PickleValue root = PickleMachine(input, store).run();
  return convert_snapshot(PickleView(store, root), input.name, store.texts, input.bytes.size(),
                          input.host);
}

Recording read(const Input& input, const ReadOptions& /*options*/) {
  const auto interpret = input.host ? host_recording : torch_recording;
  const std::string detail = torch_pickle_detail(input);
  TorchSnapshot snapshot = read_torch_pickle(input);
  if (input.release) input.release();
  return interpret(std::move(snapshot), input.name, std::string(kTorchPickleFormat), detail);
}

void copy(const Input& input, ValueWriter& writer) {
  PickleStore store(false);
  const PickleValue root = PickleMachine(input, store).run();
  write_plain(input, store, root, writer);
}

}  // namespace

TorchSnapshot read_torch_pickle(const Input& input) {
  const auto is_whole = [&] { return input.arrival == nullptr || input.arrival->is_whole(); };
  for (bool converts_early = true;;) {
    try {
      return read_once(input, converts_early);
    } catch (const NeedsPlainValues&) {
      if (!is_whole()) throw;
      converts_early = false;
    } catch (const NeedsAllBytes&) {
      if (!is_whole()) throw;
      input.arrival->wait_beyond(input.bytes.size());
    }
  }
}

bool is_pickle(const Input& input) {
  const std::string_view bytes = input.bytes;
  if (bytes.size() < 2) return false;
  if (static_cast<unsigned char>(bytes[0]) == 0x80) return true;
  // Without PROTO: "(lp0", "(dp0" (protocol 0), "]q\0", "}q\0" (protocol 1), "(l." and "}." bare.
  const bool text = bytes[0] == '(' && (bytes[1] == 'l' || bytes[1] == 'd');
  const bool binary = (bytes[0] == ']' || bytes[0] == '}') &&
                      std::string_view("qr(.").find(bytes[1]) != std::string_view::npos;
  return text || binary;
}

std::string torch_pickle_detail(const Input& input) {
  return fmt::format("PyTorch snapshot, protocol {}", pickle_protocol(input.bytes));
}

ReaderInfo torch_pickle_reader() {
  return {.name = kTorchPickleFormat,
          .summary = "PyTorch memory snapshot (_dump_snapshot), a pickle",
          .recognises = is_pickle,
          .read = read,
          .copy = copy,
          .reads_arriving = true};
}

}  // namespace memreplay
