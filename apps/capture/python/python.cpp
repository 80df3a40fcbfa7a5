// Preloaded: brings the recorder into every Python, whatever its options and its PYTHONPATH are,
// and keeps what this takes in the environment of every child.
#include <alloca.h>
#include <dlfcn.h>
#include <spawn.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

constexpr const char* kNames[] = {"MEMREPLAY_RECORD", "MEMREPLAY_VIRTUAL_GPU",
                                  "MEMREPLAY_VIRTUAL_CARDS"};
constexpr std::size_t kCount = sizeof kNames / sizeof *kNames;

char* object = nullptr;        ///< the path of this file; null: nothing is recorded
char* variables[kCount] = {};  ///< "NAME=VALUE"; null where there is none

template <typename Function>
Function* function(const char* name, void* where = RTLD_DEFAULT) {
  return reinterpret_cast<Function*>(dlsym(where, name));
}

bool is_of(const char* variable, const char* name) {
  const std::size_t size = std::strlen(name);
  return std::strncmp(variable, name, size) == 0 && variable[size] == '=';
}

/// Calls with the given environment and what it lacks of ours. It may be a child of vfork that
/// calls: nothing is allocated.
template <typename Call>
int with_ours(char* const* given, const Call& call) {
  if (object == nullptr) return call(given);
  std::size_t size = 0;
  while (given != nullptr && given[size] != nullptr) ++size;
  auto** const all = static_cast<char**>(alloca((size + kCount + 2) * sizeof(char*)));
  char** preload = nullptr;
  bool is_there[kCount] = {};
  for (std::size_t i = 0; i < size; ++i) {
    all[i] = given[i];
    if (is_of(all[i], "LD_PRELOAD")) preload = &all[i];
    for (std::size_t j = 0; j < kCount; ++j) is_there[j] |= is_of(all[i], kNames[j]);
  }
  char none[] = "LD_PRELOAD=";
  if (preload == nullptr) *(preload = &all[size++]) = none;
  if (std::strstr(*preload, object) == nullptr) {
    const std::size_t before = std::strlen(*preload);
    auto* const text = static_cast<char*>(alloca(before + std::strlen(object) + 2));
    std::memcpy(text, *preload, before);
    text[before] = ':';  // an empty name before it is skipped
    std::strcpy(text + before + 1, object);
    *preload = text;
  }
  for (std::size_t j = 0; j < kCount; ++j) {
    if (!is_there[j] && variables[j] != nullptr) all[size++] = variables[j];
  }
  all[size] = nullptr;
  return call(all);
}

using Execute = int(const char*, char* const*, char* const*);
using Spawn = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                  char* const*, char* const*);
Execute* next_execve;
Execute* next_execvpe;
Spawn* next_spawn;
Spawn* next_spawnp;

/// What Python calls where it imports `sitecustomize`. The hook runs the user's own; ours is said
/// not to be there.
void* load_recorder() {
  const auto decode = function<void*(const char*, std::size_t)>("PyUnicode_DecodeFSDefaultAndSize");
  const auto text = [&](std::string_view value) { return decode(value.data(), value.size()); };
  static bool is_loaded = false;
  if (!is_loaded) {
    is_loaded = true;
    const std::string_view path = object;
    function<int(void*, std::size_t, void*)>("PyList_Insert")(
        function<void*(const char*)>("PySys_GetObject")("path"), 0,
        text(path.substr(0, path.rfind('/'))));
    if (function<void*(const char*)>("PyImport_ImportModule")("memreplay_hook") == nullptr) {
      return nullptr;
    }
  }
  function<void*(void*, void*, void*)>("PyErr_SetImportError")(
      text("No module named 'sitecustomize'"), text("sitecustomize"), nullptr);
  return nullptr;
}

[[gnu::constructor]] void begin() {
  next_execve = function<Execute>("execve", RTLD_NEXT);
  next_execvpe = function<Execute>("execvpe", RTLD_NEXT);
  next_spawn = function<Spawn>("posix_spawn", RTLD_NEXT);
  next_spawnp = function<Spawn>("posix_spawnp", RTLD_NEXT);
  Dl_info info{};
  if (std::getenv(kNames[0]) == nullptr || dladdr(&object, &info) == 0) return;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    for (std::size_t j = 0; j < kCount; ++j) {
      // Programs write their titles over the environment.
      if (is_of(*variable, kNames[j])) variables[j] = strdup(*variable);
    }
  }
  object = strdup(info.dli_fname);
  const auto append = function<int(const char*, void* (*)())>("PyImport_AppendInittab");
  if (append != nullptr) append("sitecustomize", load_recorder);
}

}  // namespace

#define MEMREPLAY_SHOWN extern "C" [[gnu::visibility("default")]]

MEMREPLAY_SHOWN int execve(const char* path, char* const argv[], char* const env[]) noexcept {
  return with_ours(env, [&](char* const* all) { return next_execve(path, argv, all); });
}

MEMREPLAY_SHOWN int execv(const char* path, char* const argv[]) noexcept {
  return execve(path, argv, environ);
}

MEMREPLAY_SHOWN int execvpe(const char* file, char* const argv[], char* const env[]) noexcept {
  return with_ours(env, [&](char* const* all) { return next_execvpe(file, argv, all); });
}

MEMREPLAY_SHOWN int execvp(const char* file, char* const argv[]) noexcept {
  return execvpe(file, argv, environ);
}

MEMREPLAY_SHOWN int posix_spawn(pid_t* pid, const char* path,
                                const posix_spawn_file_actions_t* actions,
                                const posix_spawnattr_t* attributes, char* const argv[],
                                char* const env[]) {
  return with_ours(
      env, [&](char* const* all) { return next_spawn(pid, path, actions, attributes, argv, all); });
}

MEMREPLAY_SHOWN int posix_spawnp(pid_t* pid, const char* file,
                                 const posix_spawn_file_actions_t* actions,
                                 const posix_spawnattr_t* attributes, char* const argv[],
                                 char* const env[]) {
  return with_ours(env, [&](char* const* all) {
    return next_spawnp(pid, file, actions, attributes, argv, all);
  });
}
