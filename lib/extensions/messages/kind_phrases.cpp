#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "core/text.hpp"
#include "questions/explain/message_phrases.hpp"
#include "report/parts/paragraphs.hpp"

namespace memreplay {
namespace {

/// A sentence with figures in braces, and what goes with it.
struct Phrase {
  std::string_view kind;
  std::string_view type;  ///< the message's OomWord::type; empty: any
  std::string_view sentence;
  std::string_view advice;
};

constexpr Phrase kPhrases[] = {
#define MEMREPLAY_PHRASE(kind, type, sentence, advice) {kind, type, sentence, advice},
#include "extensions/messages/kind_phrases.def"
#undef MEMREPLAY_PHRASE
};

std::string record_of(const OomMessage& m) {
  const std::string_view kind = m.kind;
  constexpr std::string_view kTorch[] = {"torch-summary", "torch-stats", "megatron",
                                         "torch-async",   "gpu-error",   "vllm",
                                         "sglang",        "tgi",         "torch-printed"};
  constexpr std::string_view kNsight[] = {"cupy",        "paddle",   "ggml",
                                          "onnxruntime", "tensorrt", "tf-tensor",
                                          "faiss",       "xgboost",  "other-pool"};
  // Engines that are no PyTorch program.
  constexpr std::string_view kEngines[] = {"llama.cpp", "CTranslate2", "TurboMind", "TensorRT-LLM",
                                           "MXNet",     "OpenCV",      "Dst tensor"};
  const std::string& type = m[OomWord::type];
  const bool is_engine = std::ranges::find(kEngines, type) != std::end(kEngines);
  if (kind == "xla") {
    return "To see which arrays are live, record: "
           "jax.profiler.save_device_memory_profile(\"memory.prof\") before the failure, and "
           "memreplay explain on that file.";
  }
  const std::string& buffer = m[OomWord::buffer];
  const bool without_cuda = buffer.starts_with("ROCm") || buffer.starts_with("Vulkan");
  if (without_cuda || type == "tensor" || m[OomWord::backend] == "Vulkan") return "";
  if (is_engine && m[OomWord::backend] != "CUDA") return "";
  if (!is_engine && std::ranges::find(kTorch, kind) != std::end(kTorch)) {
    return "To see which code holds which memory, " + how_to_record({});
  }
  if (is_engine || std::ranges::find(kNsight, kind) != std::end(kNsight)) {
    return "To see the order of the requests, record: nsys profile --cuda-memory-usage=true "
           "--export=sqlite, and memreplay explain on its .sqlite file.";
  }
  if (kind == "rmm") {
    return "To see the order of the requests, record: "
           "rmm.enable_logging(log_file_name=\"rmm.csv\") at the start, and memreplay explain on "
           "that file.";
  }
  if (kind == "host")
    return "To see which code holds which memory, record: heaptrack, with python or the program.";
  return "";
}

// `typed`: as a command line takes it.
std::optional<std::string> value_of(std::string_view name, const OomMessage& m, bool typed) {
  if (name == "state") return m.works ? "No failure" : "A state";
  for (std::size_t i = 0; i < kFigures; ++i) {
    if (name_of(static_cast<Figure>(i)) != name) continue;
    return m.figures[i] ? std::optional(human_size(m.figures[i]->bytes)) : std::nullopt;
  }
  for (std::size_t i = 0; i < kCounts; ++i) {
    if (name_of(static_cast<Count>(i)) != name) continue;
    const bool plain = typed || name == "gpu" || name == "line";
    if (!m.counts[i]) return std::nullopt;
    return plain ? std::to_string(*m.counts[i]) : human_count(*m.counts[i]);
  }
  for (std::size_t i = 0; i < kWords; ++i) {
    if (name_of(static_cast<OomWord>(i)) == name && !m.words[i].empty()) return m.words[i];
  }
  return std::nullopt;
}

// Unset where the message lacks one of its figures.
std::optional<std::string> filled(std::string_view text, const OomMessage& m, bool typed) {
  std::string out;
  while (!text.empty()) {
    const std::size_t brace = std::min(text.find('{'), text.size());
    out += text.substr(0, brace);
    text.remove_prefix(brace);
    if (text.empty()) break;
    const std::size_t end = text.find('}');
    const auto value = value_of(text.substr(1, end - 1), m, typed);
    if (!value) return std::nullopt;
    out += *value;
    text.remove_prefix(end + 1);
  }
  return out;
}

// Where the options of an arena on a host are set: its provider takes none, and says nothing.
std::string about_arena(const OomMessage& m) {
  const std::string& arena = m[OomWord::buffer];
  if (m.kind != "onnxruntime-arena" || (!arena.starts_with("Cpu") && !arena.starts_with("CPU"))) {
    return "";
  }
  return " The CPU provider ignores such options: register the arena before the first session, "
         "onnxruntime.create_and_register_allocator(memory_info, onnxruntime.OrtArenaCfg("
         "{\"max_mem\": BYTES, \"arena_extend_strategy\": 1})), and set "
         "session.use_env_allocators to 1. max_mem limits what it holds. enable_cpu_mem_arena = "
         "False goes without an arena.";
}

// What a table says beside its figures.
std::string about_ooms(const OomMessage& m) {
  const auto ooms = m[Count::ooms].value_or(0);
  if (ooms == 0) return "";
  return fmt::format(" The process had already run out of memory {}.",
                     ooms == 1 ? "once" : fmt::format("{} times", human_count(ooms)));
}

}  // namespace

KindPhrases phrases_of(const OomMessage& m) {
  const std::string strategy = m[Count::strategy] ? std::to_string(*m[Count::strategy]) : "";
  const std::string& type = m.kind == "onnxruntime-arena" ? strategy : m[OomWord::type];
  std::string_view kind = m.kind;
  if (kind == "torch-stats" || kind == "megatron" || kind == "torch-printed")
    kind = "torch-summary";
  for (const Phrase& phrase : kPhrases) {
    if (phrase.kind != kind || (!phrase.type.empty() && phrase.type != type)) continue;
    auto sentence = filled(phrase.sentence, m, false);
    const auto advice = filled(phrase.advice, m, true);
    if (!sentence || !advice) continue;
    return {*sentence + about_ooms(m), *advice + about_arena(m), record_of(m)};
  }
  return {fmt::format("The text has {}, but too few of its figures to say more.", m.detail), "",
          record_of(m)};
}

}  // namespace memreplay
