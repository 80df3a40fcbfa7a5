#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "extensions/messages/message_kind.hpp"

namespace memreplay {
namespace {

/// What each device holds at the start of llama.cpp or Ollama.
class StartLines {
 public:
  StartLines(const PackedText& text, std::vector<FoundMessage>& found)
      : text_(text), found_(found) {}

  void read() {
    for (std::size_t i = 0; i < text_.lines.size(); ++i) {
      const PackedLine& line = text_.lines[i];
      const std::size_t end =
          i + 1 < text_.lines.size() ? text_.lines[i + 1].at : text_.text.size();
      number_ = line.number;
      read_line({text_.text, line.at, end});
    }
    for (auto& [name, device] : devices_) {
      OomMessage& message = device.message;
      if (is_of_host(name)) device.line = number_;  // it comes after the others
      if (!device.is_summed) {
        message[Figure::live] = sum_of(sum_of(message[Figure::weights], message[Figure::kv_cache]),
                                       message[Figure::activations]);
      }
      if (!is_of_host(name)) {
        message[Count::layers] = layers_;
        message[Count::layers_in_all] = layers_in_all_;
      }
    }
    if (devices_.empty() && !has_offload_ && layers_) add_layers();
    for (auto& [name, device] : devices_) found_.push_back(std::move(device));
  }

 private:
  struct Device : FoundMessage {
    bool is_summed = false;  ///< its sum is stated
  };

  static bool is_of_host(const std::string& name) {
    return name.starts_with("CPU") || name.ends_with("Host") || name == "Host";
  }

  void read_line(const MessageSpan& line) {
    static const Pattern kLayers = "offloaded {number}/{number} layers to GPU";
    static const Pattern kDraft = "loading draft model";
    is_draft_ |= line.says(kDraft);
    if (const auto layers = line.find(kLayers)) {
      layers_line_ = number_;
      layers_ = layers->values[0].count;
      layers_in_all_ = layers->values[1].count;
      // Another model takes the place of the one before, but for a draft, which is beside it.
      if (!std::exchange(is_draft_, false)) devices_.clear();
    }
    if (!read_buffer(line) && !read_ollama(line) && !read_breakdown(line)) read_offload(line);
  }

  Device& device(std::string name) {
    Device& device = devices_[name];
    OomMessage& message = device.message;
    if (message.kind.empty()) {
      device.line = number_;
      message.kind = "ggml-start";
      message.detail = "what a device holds at the start of llama.cpp";
      message[OomWord::buffer] = std::move(name);
    }
    return device;
  }

  // "load_tensors: CUDA0 model buffer size = 4403.49 MiB", wherever its lines break.
  bool read_buffer(const MessageSpan& line) {
    static const Pattern kSize = "buffer size = {size}";
    struct Use {
      std::string_view name;
      Figure figure;
    };
    static constexpr Use kUses[] = {{"model", Figure::weights},
                                    {"KV", Figure::kv_cache},
                                    {"RS", Figure::kv_cache},
                                    {"compute", Figure::activations},
                                    {"output", Figure::activations}};
    constexpr std::size_t kLongestName = 40;
    const auto size = line.find(kSize);
    if (!size || size->values[0].overflows) return false;
    const std::size_t from = size->at - std::min(size->at, kLongestName);
    std::string_view before = line.packed.substr(from, size->at - from);
    const std::size_t colon = before.rfind(':');
    if (colon == before.npos) return false;
    const bool of_weights = before.substr(0, colon).ends_with("load_tensors");
    before.remove_prefix(colon + 1);
    const auto* const use =
        std::ranges::find_if(kUses, [&](const Use& one) { return before.ends_with(one.name); });
    const bool is_named = use != std::end(kUses);
    if (is_named) before.remove_suffix(use->name.size());
    // "Metal_Mapped" is memory of Metal, mapped from the file.
    constexpr std::string_view kMapped = "_Mapped";
    if (before.ends_with(kMapped)) before.remove_suffix(kMapped.size());
    if (before.empty() || (!is_named && !of_weights)) return false;
    const Figure figure = is_named ? use->figure : Figure::weights;
    Device& one = device(std::string(before));
    if (std::exchange(one.is_summed, false)) {  // it was an estimate
      one.message.figures.fill(std::nullopt);
    }
    add(one, figure, size->values[0].size);
    return true;
  }

  // msg="kv cache" device=CUDA0 size="936.0 MiB"
  bool read_ollama(const MessageSpan& line) {
    struct Use {
      Pattern words;
      Figure figure;
    };
    static const Use kUses[] = {
        {"\"model weights\" device={word} size=\"{size}\"", Figure::weights},
        {"\"model weights\" buffer={word} size=\"{size}\"", Figure::weights},
        {"\"kv cache\" device={word} size=\"{size}\"", Figure::kv_cache},
        {"\"compute graph\" device={word} size=\"{size}\"", Figure::activations},
        {"\"compute graph\" backend={word} buffer_type={word} size=\"{size}\"",
         Figure::activations}};
    for (const Use& use : kUses) {
      const auto match = line.find(use.words);
      if (!match) continue;
      const bool two_names = !match->values[1].word.empty() && match->values[2].size.bytes > 0;
      const PatternValue& size = match->values[two_names ? 2 : 1];
      Device& one = device(std::string(match->values[0].word));
      one.message[use.figure].reset();  // it estimates several times
      if (!size.overflows) add(one, use.figure, size.size);
      return true;
    }
    return false;
  }

  // "| - CUDA0 (RTX 3090) | 24124 = 23860 + (15946 = 15364 + 411 + 170) + -15681 |", in MiB
  bool read_breakdown(const MessageSpan& line) {
    static const Pattern kRow =
        "| {size:MiB} = {size:MiB} + ({size:MiB} = {size:MiB} + {size:MiB} + {size:MiB})";
    const auto row = line.find(kRow);
    if (!row) return false;
    std::string_view name = line.packed.substr(line.from, row->at - line.from);
    name.remove_prefix(name.rfind('-') + 1);
    name = name.substr(0, name.find('('));
    Device& one = device(std::string(name));
    constexpr Figure kColumns[] = {Figure::device,  Figure::device_free, Figure::live,
                                   Figure::weights, Figure::kv_cache,    Figure::activations};
    for (std::size_t i = 0; i < std::size(kColumns); ++i) {
      one.message[kColumns[i]] = row->values[i].size;
    }
    one.is_summed = true;
    return true;
  }

  // layers.model=62 layers.offload=21 … memory.required.full="41.7 GiB"
  void read_offload(const MessageSpan& line) {
    static const Pattern kLayers = "layers.model={layers_in_all} layers.offload={layers}";
    static const Pattern kFields[] = {
        "memory.required.full=\"{needed}\"", "memory.required.partial=\"{live}\"",
        "memory.required.kv=\"{kv_cache}\"", "memory.available=\"[{device_free}]\"",
        "memory.weights.total=\"{weights}\""};
    const auto layers = line.find(kLayers);
    if (!layers) return;
    FoundMessage found{.message = {}, .line = number_};
    found.message.kind = "ggml-start";
    found.message.detail = "Ollama's line of what it offloads";
    found.message[OomWord::type] = "offload";
    kLayers.fill(*layers, found.message);
    for (const Pattern& field : kFields) {
      if (const auto match = line.find(field)) field.fill(*match, found.message);
    }
    found_.push_back(std::move(found));
    has_offload_ = true;
  }

  // All that the text has is how many layers are where.
  void add_layers() {
    OomMessage& message = found_.emplace_back(FoundMessage{{}, layers_line_}).message;
    message.kind = "ggml-start";
    message.detail = "llama.cpp's line of what it offloads";
    message[OomWord::type] = "offload";
    message[Count::layers] = layers_;
    message[Count::layers_in_all] = layers_in_all_;
  }

  static void add(Device& device, Figure figure, const RoundedBytes& size) {
    auto& held = device.message[figure];
    held = sum_of(held.value_or(RoundedBytes{}), size);
  }

  const PackedText& text_;
  std::vector<FoundMessage>& found_;
  std::map<std::string, Device> devices_;
  std::optional<std::uint64_t> layers_, layers_in_all_;
  std::uint64_t layers_line_ = 0;
  bool has_offload_ = false;
  bool is_draft_ = false;
  std::uint64_t number_ = 0;
};

}  // namespace

// llama.cpp's llama-model.cpp, llama-kv-cache.cpp and llama-context.cpp since 2023, its table of
// memory since 2025; Ollama's memory.go, ggml.go, backend.go and device.go.
MessageKind ggml_start_message() {
  return {.name = "ggml-start",
          .detail = "what a device holds at the start of llama.cpp",
          .starts = {"buffer size = {size}", "\" device={word} size=\"{size}\"",
                     "\" buffer={word} size=\"{size}\"", "layers.model={layers_in_all}",
                     "offloaded {number}/{number} layers to GPU", "memory breakdown [MiB]"},
          .is_state = true,
          .read = [](const PackedText& text, std::vector<FoundMessage>& found) {
            StartLines(text, found).read();
          }};
}

}  // namespace memreplay
