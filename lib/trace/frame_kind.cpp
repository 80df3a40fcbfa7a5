#include "trace/frame_kind.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

#include "trace/trace.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kAutograd = "torch::autograd::";

template <std::size_t N>
bool has_any(std::string_view text, const std::array<std::string_view, N>& marks) {
  return std::ranges::any_of(marks,
                             [&](std::string_view mark) { return text.find(mark) != text.npos; });
}

template <std::size_t N>
bool starts_with_any(std::string_view text, const std::array<std::string_view, N>& starts) {
  return std::ranges::any_of(starts,
                             [&](std::string_view start) { return text.starts_with(start); });
}

// Small letters, "/" between and before its parts: every folder of it stands between two "/".
std::string plain_path(std::string_view file) {
  std::string path = "/";
  for (const char c : file) {
    path += c == '\\' ? '/' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return path;
}

std::string_view base_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// The folder before the "/" at `slash`.
std::string_view folder_before(std::string_view path, std::size_t slash) {
  const std::string_view up = path.substr(0, slash);
  return up.substr(up.rfind('/') + 1);
}

// What follows the innermost folder of installed packages; empty where there is none.
std::string_view in_packages(std::string_view path) {
  constexpr std::array<std::string_view, 4> kMarks = {"/site-packages/", "/dist-packages/", ".egg/",
                                                      ".whl/"};
  std::size_t from = 0;
  for (const std::string_view mark : kMarks) {
    const std::size_t at = path.rfind(mark);
    if (at != path.npos) from = std::max(from, at + mark.size());
  }
  return from == 0 ? std::string_view() : path.substr(from);
}

bool is_conda(std::string_view folder) {
  constexpr std::array<std::string_view, 3> kNames = {"conda", "mamba", "forge"};
  return has_any(folder, kNames);
}

bool in_conda_cache(std::string_view path) {
  constexpr std::string_view kMark = "/pkgs/";
  const std::size_t at = path.find(kMark);
  return at != path.npos && is_conda(folder_before(path, at));
}

// Windows has the interpreter's modules in a folder Lib beside python.exe.
bool in_windows_lib(std::string_view path) {
  constexpr std::string_view kMark = "/lib/";
  constexpr std::array<std::string_view, 18> kModules = {
      "asyncio/",     "bdb.py",       "concurrent/", "contextlib.py", "copy.py",
      "cprofile.py",  "functools.py", "importlib/",  "inspect.py",    "multiprocessing/",
      "pdb.py",       "profile.py",   "queue.py",    "runpy.py",      "socketserver.py",
      "threading.py", "timeit.py",    "unittest/"};
  const std::size_t at = path.find(kMark);
  if (at == path.npos || path.size() < 3 || path[2] != ':') return false;
  const std::string_view home = folder_before(path, at);
  const std::string_view above = folder_before(path, at - std::min(at, home.size() + 1));
  return home.starts_with("python") || home.starts_with("cpython") || is_conda(home) ||
         above == "envs" || above == "versions" ||
         starts_with_any(path.substr(at + kMark.size()), kModules);
}

// True for a checkout too; below installed packages the package is asked.
bool is_pytorch(std::string_view path) {
  constexpr std::array<std::string_view, 11> kMarks = {"/torch/_",
                                                       "/pytorch/torch/",
                                                       "/torch/nn/modules/",
                                                       "/torch/nn/parallel/",
                                                       "/torch/nn/functional.py",
                                                       "/torch/autograd/",
                                                       "/torch/utils/data/",
                                                       "/torch/utils/checkpoint.py",
                                                       "/torch/utils/_",
                                                       "/torch/distributed/",
                                                       "/torch/functional.py"};
  return has_any(path, kMarks);
}

bool is_interpreter(std::string_view path) {
  constexpr std::array<std::string_view, 4> kMarks = {"/lib/python3", "/lib64/python3",
                                                      "/lib/python2", "/lib/pypy"};
  return has_any(path, kMarks) || in_windows_lib(path);
}

bool is_generated_name(std::string_view base) {
  // A kernel of torch.compile is named by the hash of its text.
  constexpr std::size_t kHashed = 52;
  constexpr std::string_view kEnd = ".py";
  const auto is_of_hash = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return base.size() == kHashed + kEnd.size() && base.ends_with(kEnd) && base.front() == 'c' &&
         std::all_of(base.begin(), base.begin() + kHashed, is_of_hash);
}

bool is_generated(std::string_view path) {
  constexpr std::array<std::string_view, 3> kMarks = {"/torchinductor_", "/.triton/",
                                                      "/unsloth_compiled_cache/"};
  return has_any(path, kMarks) || is_generated_name(base_of(path));
}

// "<frozen runpy>", "<ipython-input-3-5f>": no file has such a name.
FrameKind kind_without_file(std::string_view name) {
  constexpr std::array<std::string_view, 2> kInterpreter = {"<frozen", "<__array_function__"};
  constexpr std::array<std::string_view, 7> kTyped = {"<ipython-input", "<stdin>", "<console>",
                                                      "<command-",      "<cell",   "<doctest",
                                                      "<torch_package_"};
  if (starts_with_any(name, kInterpreter)) return FrameKind::framework;
  return starts_with_any(name, kTyped) ? FrameKind::own : FrameKind::generated;
}

bool is_script(std::string_view path) {
  const std::string_view folder = folder_before(path, path.rfind('/'));
  return folder == "bin" || folder == "scripts";
}

FrameKind python_kind(std::string_view path) {
  constexpr std::array<std::string_view, 8> kTools = {
      "/.venv/", "/.tox/", "/.nox/", "/.vscode", "/pydev/", "/debugpy/", "/.pex/", "/.cache/uv/"};
  if (is_generated(path)) return FrameKind::generated;
  if (const std::string_view package = in_packages(path); !package.empty()) {
    constexpr std::array<std::string_view, 4> kFramework = {"torch/", "torch_npu/", "functorch/",
                                                            "triton/"};
    return starts_with_any(package, kFramework) ? FrameKind::framework : FrameKind::package;
  }
  if (is_interpreter(path) || is_pytorch(path)) return FrameKind::framework;
  const bool extension = base_of(path).find('.') != std::string_view::npos;
  const bool installed =
      has_any(path, kTools) || in_conda_cache(path) || (!extension && is_script(path));
  return installed ? FrameKind::package : FrameKind::own;
}

bool is_python(std::string_view function, std::string_view path) {
  constexpr std::array<std::string_view, 3> kEndings = {".py", ".pyw", ".pyx"};
  const bool ends = std::ranges::any_of(
      kEndings, [&](std::string_view ending) { return path.ends_with(ending); });
  // Functions in a script without an ending.
  constexpr std::array<std::string_view, 6> kPythons = {"<module>",  "<lambda>",   "<listcomp>",
                                                        "<genexpr>", "<dictcomp>", "<setcomp>"};
  const bool of_python = std::ranges::find(kPythons, function) != kPythons.end() && path != "/";
  return ends || of_python || path.find("ipykernel") != path.npos;
}

// What stands between a program and its memory: the C library, C++'s and Rust's standard libraries,
// Python's allocator, profilers that take their place.
bool is_of_allocation(std::string_view name, std::string_view path) {
  constexpr std::array<std::string_view, 20> kStarts = {
      "operator new", "std::",      "void std::",      "<std::",           "__gnu_cxx::",
      "dhat::",       "<dhat::",    "alloc::alloc::",  "alloc::raw_vec::", "<alloc::",
      "hashbrown::",  "__rust_",    "__rg_",           "__rdl_",           "PyMem_",
      "_PyMem_",      "_PyObject_", "PyObject_Malloc", "g_malloc",         "PyObject_Realloc"};
  constexpr std::array<std::string_view, 7> kRust = {
      "/library/alloc/", "/library/core/", "/library/std/", "/alloc/src/",
      "/core/src/",      "/std/src/",      "/hashbrown"};
  constexpr std::array<std::string_view, 9> kCalls = {
      "malloc",       "calloc",         "realloc", "memalign", "aligned_alloc",
      "reallocarray", "posix_memalign", "valloc",  "mmap"};
  std::string_view call = name;
  for (const std::string_view library : {"__libc_", "je_", "tc_", "mi_", "__"}) {
    if (call.starts_with(library)) call.remove_prefix(library.size());
  }
  return starts_with_any(name, kStarts) || std::ranges::find(kCalls, call) != kCalls.end() ||
         (path.ends_with(".rs") && has_any(path, kRust));
}

FrameKind native_kind(std::string_view function, std::string_view path) {
  constexpr std::array<std::string_view, 9> kPlumbing = {
      "torch::unwind", "CapturedTraceback", "gather_with_cpp", "CachingAllocator", "empty_generic",
      "StorageImpl",   "TensorImpl",        "c10::",           "empty_strided_"};
  constexpr std::array<std::string_view, 2> kSums = {"InputBuffer::", "::reduce_grad"};
  constexpr std::array<std::string_view, 1> kEngine = {"Engine::"};
  if (!backward_function(function).empty()) return FrameKind::backward;
  const std::string_view name = without_arguments(function);
  if (name.starts_with(kAutograd)) {
    if (has_any(name, kSums)) return FrameKind::gradient_sums;
    return has_any(name, kEngine) ? FrameKind::engine : FrameKind::plumbing;
  }
  if (name.empty() || name == "??" || has_any(name, kPlumbing) || is_of_allocation(name, path)) {
    return FrameKind::plumbing;
  }
  return FrameKind::native;
}

// The last part of a name in namespaces: "CppNode<a::F>" of "torch::autograd::CppNode<a::F>".
std::string_view last_part(std::string_view name) {
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    depth += name[i] == '>';
    depth -= name[i] == '<';
    if (name[i] == ':' && depth == 0) return name.substr(i + 1);
  }
  return name;
}

}  // namespace

FrameKind frame_kind(std::string_view function, std::string_view file) {
  if (file.starts_with('<')) return kind_without_file(file);
  const std::string path = plain_path(file);
  return is_python(function, path) ? python_kind(path) : native_kind(function, path);
}

std::vector<FrameKind> frame_kinds(const Recording& recording) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, FrameKind> known;  // by name and file
  std::vector<FrameKind> kinds;
  for (const Frame& frame : recording.frames) {
    const auto [at, is_new] = known.try_emplace({frame.name, frame.file});
    if (is_new) at->second = frame_kind(recording.texts[frame.name], recording.texts[frame.file]);
    kinds.push_back(at->second);
  }
  return kinds;
}

std::string package_of(std::string_view file) {
  const std::string path = plain_path(file);
  const std::string_view inside = in_packages(path);
  const std::string_view part = inside.substr(0, inside.find('/'));
  // As it is written there.
  const std::size_t at = path.size() - 1 - inside.size();
  std::string name = inside.empty() ? "" : std::string(file.substr(at, part.size()));
  if (name.ends_with(".py")) name.resize(name.size() - 3);
  return name;
}

std::string_view without_arguments(std::string_view function) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)";
  std::size_t at = function.find('(', function.starts_with('(') ? 1 : 0);
  if (function.starts_with(kUnnamed)) at = function.find('(', kUnnamed.size());
  while (at != function.npos && function.substr(at).starts_with(kUnnamed)) {
    at = function.find('(', at + kUnnamed.size());
  }
  return function.substr(0, at);
}

std::string_view backward_function(std::string_view function) {
  constexpr std::array<std::string_view, 2> kEnds = {"::apply", "_apply_functional"};
  constexpr std::string_view kOfProgram = "CppNode<";
  constexpr std::array<std::string_view, 3> kNone = {"Node", "PyNode", "Engine"};
  std::string_view name = without_arguments(function);
  const auto end =
      std::ranges::find_if(kEnds, [&](std::string_view text) { return name.ends_with(text); });
  if (!name.starts_with(kAutograd) || end == kEnds.end()) return {};
  name.remove_suffix(end->size());
  name = last_part(name);
  if (name.starts_with(kOfProgram) && name.ends_with('>')) {
    name = name.substr(kOfProgram.size(), name.size() - kOfProgram.size() - 1);
  }
  return std::ranges::find(kNone, name) != kNone.end() ? std::string_view() : name;
}

}  // namespace memreplay
