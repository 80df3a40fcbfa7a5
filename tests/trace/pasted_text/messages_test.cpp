#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "trace/pasted_text/message_kind.hpp"
#include "trace/pasted_text/message_samples.hpp"

namespace memreplay {
namespace {

using Messages = std::vector<OomMessage>;

Messages told_by(std::string_view text) {
  Messages messages = messages_in(text);
  put_together(messages);
  return messages;
}

std::optional<Figure> figure_named(std::string_view name) {
  for (std::size_t i = 0; i < kFigures; ++i) {
    if (name_of(static_cast<Figure>(i)) == name) return static_cast<Figure>(i);
  }
  return std::nullopt;
}

TEST(PastedMessages, EveryKindHasSamplesOfTwoWordings) {
  for (const MessageKind& kind : message_kinds()) {
    EXPECT_GE(std::ranges::count(message_samples(), kind.name, &MessageSample::kind), 2)
        << kind.name;
  }
}

TEST(PastedMessages, EverySampleIsReadAsItsKindWithItsFigures) {
  for (const MessageSample& sample : message_samples()) {
    SCOPED_TRACE(sample.wording);
    const Messages messages = told_by(sample.text);
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(messages[0].kind, sample.kind);
    for (const auto& [name, size] : sample.mebibytes) {
      const auto& figure = messages[0][figure_named(name).value()];
      ASSERT_TRUE(figure) << name;
      EXPECT_NEAR(static_cast<double>(figure->bytes) / (1 << 20), size, 0.001) << name;
    }
  }
}

/// What happens to texts on their way from a log into a report.
class Noise {
 public:
  explicit Noise(unsigned seed) : random_(seed) {}

  std::string over(std::string text) {
    const std::function<std::string(std::string)> kinds[] = {
        [&](std::string t) { return "epoch 3, loss 0.25\n" + std::move(t) + "Traceback\n"; },
        [&](std::string t) { return wrapped(std::move(t)); },
        [&](std::string t) { return coloured(std::move(t)); },
        [&](std::string t) { return prefixed(std::move(t)); },
        [&](std::string t) { return escaped(std::move(t)); },
        [&](std::string t) { return cut(std::move(t)); }};
    for (const auto& kind : kinds) {
      if (below(3) == 0) text = kind(std::move(text));
    }
    return text;
  }

 private:
  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }

  std::string wrapped(std::string text) {
    const std::size_t width = 12 + below(80);
    std::string lines;
    std::size_t column = 0;
    for (const char c : text) {
      if (c != '\n' && column == width) {
        lines += '\n';
        column = 0;
      }
      lines += c;
      column = c == '\n' ? 0 : column + 1;
    }
    return lines;
  }

  std::string coloured(std::string text) {
    for (int i = 0; i < 5; ++i) {
      const std::size_t at = text.find(' ', below(text.size() + 1));
      if (at != text.npos) text.insert(at, below(2) == 0 ? "\x1b[31;1m" : "\x1b[0m");
    }
    return text;
  }

  std::string prefixed(std::string text) {
    static constexpr const char* kPrefixes[] = {
        "> ",
        "[rank3]: ",
        "worker_1  | ",
        "(EngineCore pid=12) ",
        "[default0]:",
        "2024-01-02 03:04:05.123456: I tsl/framework/bfc_allocator.cc:1101] ",
        "INFO 05-01 08:00:00 [core.py:7] ",
        "2024-01-01T00:00:00.1Z stderr F "};
    const std::string prefix = kPrefixes[below(std::size(kPrefixes))];
    std::string lines;
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t end = std::min(text.find('\n', from), text.size() - 1) + 1;
      lines += prefix + text.substr(from, end - from);
      from = end;
    }
    return lines;
  }

  std::string escaped(std::string text) {
    std::string json = "{\"log\": \"";
    for (const char c : text) json += c == '\n' ? "\\n" : c == '"' ? "\\\"" : std::string(1, c);
    return json + "\", \"stream\": \"stderr\"}\n";
  }

  std::string cut(std::string text) {
    const std::size_t from = below(2) == 0 ? 0 : below(text.size());
    return text.substr(from, below(2) == 0 ? text.npos : below(text.size() - from) + 1);
  }

  std::mt19937 random_;
};

// Whether some message of the kind says the same, where this one says anything.
template <typename Get>
bool is_told(const Messages& truth, const OomMessage& message, const Get& get) {
  if (!get(message)) return true;
  return std::ranges::any_of(truth, [&](const OomMessage& one) {
    return one.kind == message.kind && get(one) == get(message);
  });
}

// A rounded figure and an exact one of the same text are both right.
bool is_figure(const Messages& truth, const OomMessage& message, std::size_t i) {
  const auto& figure = message.figures[i];
  return !figure || std::ranges::any_of(truth, [&](const OomMessage& one) {
    const auto& other = one.figures[i];
    if (one.kind != message.kind || !other) return false;
    const auto apart =
        std::max(figure->bytes, other->bytes) - std::min(figure->bytes, other->bytes);
    return apart <= std::max(figure->within, other->within);
  });
}

TEST(PastedMessages, NoiseTakesFiguresAwayAndChangesNone) {
  for (const MessageSample& sample : message_samples()) {
    const Messages truth = told_by(sample.text);
    for (unsigned seed = 0; seed < 200; ++seed) {
      const std::string text = Noise(seed).over(std::string(sample.text));
      for (const OomMessage& message : told_by(text)) {
        for (std::size_t i = 0; i < kFigures; ++i) {
          ASSERT_TRUE(is_figure(truth, message, i))
              << name_of(static_cast<Figure>(i)) << " of " << message.kind << ", seed " << seed
              << ": " << message.figures[i]->bytes << '\n'
              << text;
        }
        for (std::size_t i = 0; i < kCounts; ++i) {
          if (static_cast<Count>(i) == Count::rank) continue;
          ASSERT_TRUE(is_told(truth, message, [&](const OomMessage& one) { return one.counts[i]; }))
              << name_of(static_cast<Count>(i)) << ", seed " << seed << '\n'
              << text;
        }
      }
    }
  }
}

// A bare line, the kind that it is read as, and its row in the table of spellings.
struct Spelling {
  std::string_view line;
  std::string_view kind;
  std::string_view type;
};
constexpr Spelling kSpellings[] = {
    {"[ 42.1] Memory cgroup out of memory: Killed process 812 (python) total-vm:41kB", "host",
     "cgroup"},
    {"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=x,task=python", "host", "cgroup"},
    {"oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),task=python", "host", "kernel"},
    {"python invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE)", "host", "kernel"},
    {"    Reason:       OOMKilled", "host", "pod"},
    {"trainer-0   0/1   OOMKilled   3   5m", "host", "pod"},
    {"\"OOMKilled\": true,", "host", "pod"},
    {"slurmstepd: error: Detected 1 oom_kill event in StepId=812.batch.", "host", "job"},
    {"slurmstepd: error: Detected 3 oom-kill event(s) in step 9.0 cgroup.", "host", "job"},
    {"slurmstepd: error: Exceeded job memory limit", "host", "job"},
    {"TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.", "host", "job"},
    {"RuntimeError: DataLoader worker (pid 31) is killed by signal: Killed. ", "host", "worker"},
    {"RuntimeError: DataLoader worker (pid 31) is killed by signal: Bus error. ", "host",
     "shared memory"},
    {"ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient "
     "shared memory (shm).",
     "host", "shared memory"},
    {"Workers (tasks / actors) killed due to memory pressure (OOM): 2", "host", "ray"},
    {"Task was killed due to the node running low on memory.", "host", "ray"},
    {"Killed", "host", "exit"},
    {"zsh: killed     python train.py", "host", "exit"},
    {"run.sh: line 12:  4711 Killed                  python train.py", "host", "exit"},
    {"[1]+  Killed                  python train.py", "host", "exit"},
    {"[2]    4711 killed     python train.py", "host", "exit"},
    {"Process exited with code 137", "host", "exit"},
    {"  exitcode  : -9 (pid: 4711)", "host", "exit"},
    {"Signal 9 (SIGKILL) received by PID 4711", "host", "exit"},
    {"subprocess.CalledProcessError: Command died with <Signals.SIGKILL: 9>.", "host", "exit"},
    {"exits with return code = -9", "host", "exit"},
    {"OSError: [Errno 12] Cannot allocate memory", "host", "mapping"},
    {"terminate called after throwing an instance of 'std::bad_alloc'", "host", "mapping"},
    {"MemoryError", "host", "python"},
    {"RuntimeError: CUDA driver error: out of memory", "gpu-error", "driver"},
    {"RuntimeError: CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62",
     "gpu-error", "sleep"},
    {"[torch_memory_saver.cpp] CUresult error  result=2 file=csrc/a.cpp func=cu_mem_create "
     "line=103",
     "gpu-error", "memory saver"},
    {"[torch_memory_saver.cpp] cudaError error: 2 (out of memory)  file=csrc/core.cpp func=resume",
     "gpu-error", "memory saver"},
    {"CUDA error: out of memory\n  current device: 1, in function alloc at ggml-cuda.cu:450",
     "gpu-error", "llama.cpp"},
    {"ROCm error: out of memory\n  current device: 0, in function alloc at ggml-cuda.cu:450",
     "gpu-error", "llama.cpp"},
    {"MUSA error: out of memory", "gpu-error", "llama.cpp"},
    {"RuntimeError: CUDA failed with error out of memory", "gpu-error", "CTranslate2"},
    {"TensorStorage /io/include/tensorview/tensor.h 168\ncuda failed with error 2 out of memory. "
     "use CUDA_LAUNCH_BLOCKING=1",
     "gpu-error", "spconv"},
    {"RuntimeError: [TM][ERROR] CUDA runtime error: out of memory /src/turbomind/utils/a.h:246",
     "gpu-error", "TurboMind"},
    {"[TensorRT-LLM][ERROR] CUDA runtime error in ::cudaMallocAsync(ptr, n, s): out of memory",
     "gpu-error", "TensorRT-LLM"},
    {"src/storage/./pooled_storage_manager.h:187: cudaMalloc failed: out of memory", "gpu-error",
     "MXNet"},
    {"cv2.error: OpenCV(4.10.0) gpu_mat.cu:121: error: (-217:Gpu API call) out of memory in "
     "function",
     "gpu-error", "OpenCV"},
    {"InternalError: Dst tensor is not initialized.", "gpu-error", "Dst tensor"},
    {"RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`",
     "gpu-error", "handle"},
    {"E cuda_dnn.cc:384] Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED", "gpu-error",
     "handle"},
    {"THCudaCheck FAIL file=/pytorch/THC/generic/THCStorage.cu line=58 error=2 : out of memory",
     "gpu-error", "tensor"}};

TEST(PastedMessages, EverySpellingIsReadAsWhatItIs) {
  for (const Spelling& spelling : kSpellings) {
    for (const std::string before : {"", "[rank3]: ", "2024-01-01T00:00:00.1Z stderr F "}) {
      const std::string text = "epoch 3, loss 0.25\n" + before + std::string(spelling.line) + "\n";
      SCOPED_TRACE(text);
      const Messages messages = told_by(text);
      ASSERT_EQ(messages.size(), 1u);
      EXPECT_EQ(messages[0].kind, spelling.kind);
      EXPECT_EQ(messages[0][OomWord::type], spelling.type);
    }
  }
}

// Lines of programs that are well, with words of the others.
constexpr std::string_view kHealthy[] = {
    "\"OOMKilled\": false,\n\"ExitCode\": 0\n",
    "memory.events: low 0 high 0 max 12 oom 0 oom_kill 0\n",
    "Process finished with exit code 0\n",
    "Killing the old server: its 4 workers are gone\n",
    "Skilled labour, 137 items, -9 degrees\n",
    "vm.overcommit_memory = 1, oom_score_adj 0\n",
    "INFO: the OOM killer is disabled (--oom-kill-disable)\n",
    "Worker exits. Potential root causes: (1) The process is killed by SIGKILL by OOM killer due "
    "to high memory usage. (2) ray stop --force is called.\n",
    "I0000 00:00:1795877383.607090 3904 port.cc:153] oneDNN custom operations are on.\n"
    "E0000 00:00:1795877383.607555 3904 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA "
    "error: Failed call to cuInit: UNKNOWN ERROR (303)\n",
    "INFO 03-04 09:00:00 [gpu_model_runner.py:5306] Model loading took 40.20 GiB memory\n"
    "INFO 03-04 09:00:40 [gpu_worker.py:538] Available KV cache memory: 30.00 GiB\n"
    "INFO:     Application startup complete.\n",
    "[2025-03-14 09:20:12] KV Cache is allocated. #tokens: 371661, K size: 22.68 GB, V size: 22.68 "
    "GB\n[2025-03-14 09:20:12] The server is fired up and ready to roll!\n",
    "load_tensors: offloaded 33/33 layers to GPU\nllama_context: CUDA0 compute buffer size = "
    "560.00 "
    "MiB\nmain: server is listening on http://127.0.0.1:8080\n",
    "[rank0] memory_allocated: 31.2 GB\nstep 1 loss: 2.0\nstep 2 loss: 1.9\n"};

bool tells_of_a_failure(const OomMessage& message) {
  constexpr std::string_view kFailures[] = {"host", "gpu-error", "torch", "xla", "bfc"};
  return !message.harmless && std::ranges::find(kFailures, message.kind) != std::end(kFailures);
}

TEST(PastedMessages, AHealthyProgramIsNoFailureWhateverHappensToItsText) {
  for (const std::string_view healthy : kHealthy) {
    for (unsigned seed = 0; seed < 200; ++seed) {
      const std::string text =
          seed == 0 ? std::string(healthy) : Noise(seed).over(std::string(healthy));
      for (const OomMessage& message : told_by(text)) {
        EXPECT_FALSE(tells_of_a_failure(message))
            << message.kind << ' ' << message[OomWord::type] << ", seed " << seed << '\n'
            << text;
      }
    }
  }
}

TEST(PastedMessages, AStatusIsAWholeNumber) {
  EXPECT_EQ(told_by("exit code 137\n").size(), 1u);
  EXPECT_TRUE(told_by("exit code 1370\n").empty());
  EXPECT_TRUE(told_by("exit code 137\n0 of 12\n").empty());  // or a number that a line breaks
}

TEST(PastedMessages, AHarmlessLineHidesNoOther) {
  const std::string harmless =
      "Allocator (GPU_0_bfc) ran out of memory trying to allocate 5.75GiB with freed_by_count=0. "
      "The caller indicates that this is not a failure, but this may mean that there could be "
      "performance gains if more memory were available.\n";
  for (const std::string other :
       {"RESOURCE_EXHAUSTED: Out of memory while trying to allocate 9663676416 bytes.\n",
        "CUBLAS_STATUS_NOT_INITIALIZED\n"}) {
    EXPECT_EQ(told_by(harmless + other).size(), 2u) << other;
    EXPECT_EQ(told_by(other + harmless).size(), 2u) << other;
  }
}

TEST(PastedMessages, EveryLineOfAQuotationMayBeginWithASign) {
  const std::string text(message_samples()[0].text);
  Messages plain = told_by(text);
  for (const std::string sign :
       {"| ", "# ", "## ", "// ", "- ", "; ", "% ", "\xE2\x96\x8E ", "\xC2\xA6 ", "\xC2\xBB ",
        "\xE2\x80\xA2 ", "\xE2\x80\xBA ", "\xE2\x9D\xAF ", "\xE2\x96\x8C ", "|", "#"}) {
    std::string lines;
    for (std::size_t at = 0; at < text.size(); at += 90) {
      lines += sign + text.substr(at, std::min<std::size_t>(90, text.size() - 1 - at)) + '\n';
    }
    const Messages messages = told_by(lines);
    ASSERT_EQ(messages.size(), 1u) << lines;
    EXPECT_EQ(messages[0], plain[0]) << lines;
  }
}

TEST(PastedMessages, AHyperlinkOfATerminalEndsWhereItEnds) {
  const std::string text(message_samples()[0].text);
  for (const std::string end : {"\x1b\\", "\x07", "\\u001b\\\\", "\\u0007"}) {
    for (const std::string escape : {"\x1b", "\\u001b"}) {
      const std::string link = escape + "]8;;file:///a/train.py" + end;
      EXPECT_EQ(told_by(link + "train.py" + escape + "]8;;" + end + ":12\n" + text), told_by(text))
          << end;
    }
  }
  EXPECT_EQ(told_by("\x1b]8;;file:///never/ended\n" + text), told_by(text));
}

TEST(PastedMessages, ProcessesThatWorkOnAnotherDeviceHaveAContextByMistake) {
  const Messages messages = told_by(
      "|    0   N/A  N/A      3001      C   python                          30120MiB |\n"
      "|    0   N/A  N/A      3002      C   python                            612MiB |\n"
      "|    0   N/A  N/A      3003      C   python                            612MiB |\n"
      "|    1   N/A  N/A      3002      C   python                          29800MiB |\n"
      "|    2   N/A  N/A      3003      C   python                          29810MiB |\n");
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0][OomWord::type], "contexts");
  EXPECT_EQ(messages[0][OomWord::pids], "3002 and 3003");
  EXPECT_EQ(messages[0][Count::gpu], 0u);
  EXPECT_EQ(messages[0].processes.at(1).held.bytes, 612u << 20);
  EXPECT_EQ(messages[0][Figure::outside]->bytes, 1224u << 20);
}

TEST(PastedMessages, ADraftModelOfSGLangStandsApart) {
  const std::string first = "Load weight begin. avail mem=78.00 GB\n";
  const std::string target =
      "Load weight end. type=LlamaForCausalLM, avail mem=47.50 GB, mem usage=30.50 GB.\n";
  const std::string second = "Load weight begin. avail mem=47.25 GB\n";
  for (const std::string type : {"LlamaForCausalLMEagle3", "LlamaForCausalLM"}) {
    const Messages messages = told_by(
        first + target + second + "Load weight end. type=" + type +
        ", avail mem=45.75 GB, mem usage=1.50 GB.\n"
        "KV Cache is allocated. #tokens: 90112, K size: 11.00 GB, V size: 11.00 GB\n"
        "KV Cache is allocated. #tokens: 90112, K size: 0.25 GB, V size: 0.25 GB\n"
        "Capture cuda graph end. Time elapsed: 58.00 s. mem usage=2.25 GB. avail mem=15.50 GB.\n"
        "Capture draft cuda graph end. Time elapsed: 8.00 s. mem usage=0.25 GB. avail "
        "mem=15.25 GB.\n");
    ASSERT_EQ(messages.size(), 1u);
    const auto gib = [&](Figure figure) {
      return static_cast<double>(messages[0][figure].value().bytes) / (1 << 30);
    };
    EXPECT_EQ(gib(Figure::free_at_start), 78);
    EXPECT_EQ(gib(Figure::weights), 30.5);
    EXPECT_EQ(gib(Figure::draft_weights), 1.5);
    EXPECT_EQ(gib(Figure::kv_cache), 22);
    EXPECT_EQ(gib(Figure::draft_kv_cache), 0.5);
    EXPECT_EQ(gib(Figure::graphs), 2.5);
    EXPECT_EQ(gib(Figure::device_free), 15.25);
  }
  // A server that starts again has one model.
  const Messages again = told_by(first + target + first + target);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_FALSE(again[0][Figure::draft_weights]);
}

TEST(PastedMessages, WhereLinesBreakAndWhatStandsBeforeThemDoesNotMatter) {
  const std::string text(message_samples()[0].text);
  Messages plain = told_by(text);
  for (const std::size_t width : {20u, 37u, 64u}) {
    for (const std::string prefix : {"", "> ", "[rank3]: ", "\xE2\x94\x82 ", "worker_1  | "}) {
      std::string lines;
      for (std::size_t at = 0; at < text.size(); at += width) {
        lines += prefix + text.substr(at, std::min(width, text.size() - 1 - at)) + '\n';
      }
      Messages messages = told_by(lines);
      ASSERT_EQ(messages.size(), 1u) << lines;
      messages[0][Count::rank].reset();
      EXPECT_EQ(messages[0], plain[0]) << lines;
    }
  }
}

TEST(PastedMessages, LinesOfSeveralRanksMayBeMixed) {
  const Messages messages = told_by(
      "[rank0]: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total\n"
      "[rank1]: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 1 has a total\n"
      "[rank0]: capacity of 8.00 GiB of which 1.00 GiB is free.\n"
      "[rank1]: capacity of 9.00 GiB of which 1.50 GiB is free.\n");
  ASSERT_EQ(messages.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(messages[i][Count::rank], i);
    EXPECT_EQ(messages[i][Figure::requested]->bytes, (2 + i) << 30);
    EXPECT_EQ(messages[i][Figure::device]->bytes, (8 + i) << 30);
  }
}

TEST(PastedMessages, EqualMessagesAreCounted) {
  const std::string text(message_samples()[1].text);
  const Messages messages = told_by(text + text + text);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].times, 3u);
}

TEST(PastedMessages, ANumberThatALineBreakPartsCountsWhereItHasDecimalsOnly) {
  const Messages messages = told_by(
      "CUDA out of memory. Tried to allocate 12\n2.50 MiB. GPU 1\n2 has a total capacity of 8.00 "
      "GiB\n");
  EXPECT_EQ(messages.at(0)[Figure::requested]->bytes, Bytes{245} << 19);
  EXPECT_FALSE(messages.at(0)[Count::gpu]);
}

}  // namespace
}  // namespace memreplay
