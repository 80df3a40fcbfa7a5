#include "record/preparation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "core/error.hpp"
#include "elf/elf_file.hpp"
#include "files/files.hpp"
#include "folders/cache.hpp"
#include "record/program.hpp"
#include "report/parts/json_parts.hpp"
#include "report/parts/paragraphs.hpp"
#include "stand_ins/stand_ins.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kImplementation = "libmemreplay_gpu.so";

Implementation implementation() {
  Implementation result{.soname = std::string(kImplementation), .functions = {}};
  const EmbeddedFile& file = embedded_file(kImplementation);
  for (const std::string_view function : elf_file(file.content, file.name).defined) {
    result.functions.emplace(function);
  }
  return result;
}

/// By library, those of the functions that it calls which do nothing and return 0.
std::map<std::string, std::vector<std::string>> neutral_functions(
    const std::vector<CallingLibrary>& callers, const std::set<std::string>& implemented) {
  std::map<std::string, std::vector<std::string>> neutral;
  for (const CallingLibrary& caller : callers) {
    for (const std::string& function : caller.functions) {
      if (!implemented.contains(function)) neutral[caller.name].push_back(function);
    }
  }
  return neutral;
}

/// True for functions whose caller waits for something, as a word of their name says: there, to do
/// nothing is no answer.
bool hands_back(std::string_view function) {
  static constexpr std::array<std::string_view, 7> kWords = {"Alloc",  "Create", "Export", "Get",
                                                             "Import", "Open",   "Query"};
  return std::ranges::any_of(kWords, [&](std::string_view word) {
    const std::size_t at = function.find(word);
    if (at == function.npos) return false;
    const std::size_t end = at + word.size();
    return end == function.size() || function[end] < 'a' || function[end] > 'z';
  });
}

/// What is missing for the packages beside torch, a line for each library; torch's own calls are
/// those of the tests.
std::vector<std::string> missing(const TorchNeeds& needs,
                                 const std::set<std::string>& implemented) {
  std::vector<std::string> notes;
  for (const CallingLibrary& caller : needs.callers) {
    std::vector<std::string> without;
    std::ranges::copy_if(caller.functions, std::back_inserter(without), [&](const auto& function) {
      return hands_back(function) && !implemented.contains(function);
    });
    if (caller.is_torchs || without.empty()) continue;
    const std::string others =
        without.size() == 1 ? "" : fmt::format(" and {} more", without.size() - 1);
    notes.push_back(
        fmt::format("{} may call {}{}, which the virtual GPU does not have: such a call returns 0 "
                    "and gives no result",
                    caller.name, without.front(), others));
  }
  return notes;
}

/// "python", "python3", "python3.11"
bool is_python(const std::string& program) {
  const std::string name = std::filesystem::path(program).filename();
  return name.starts_with("python") &&
         name.find_first_not_of("0123456789.", std::string_view("python").size()) == name.npos;
}

}  // namespace

PreparedTorch prepared(Cache& cache, const std::filesystem::path& torch_folder,
                       const std::optional<VirtualCard>& card, const VirtualBehaviour& behaviour) {
  const TorchNeeds needs = torch_needs(torch_folder);
  const Implementation ours = implementation();
  return {.implementation = embedded_folder(cache) / kImplementation,
          .stand_ins = write_stand_ins(needs, cache, ours),
          .neutral = neutral_functions(needs.callers, ours.functions),
          .settings = card ? settings_of(*card, behaviour) : "",
          .temporary = cache.leave()};
}

std::string to_json(const PreparedTorch& preparation) {
  const std::string temporary = preparation.temporary.value_or("").string();
  Json neutral = Json::object();
  for (const auto& [library, functions] : preparation.neutral) neutral[library] = functions;
  return dump(Json{{"implementation", preparation.implementation.string()},
                   {"stand_ins", preparation.stand_ins.string()},
                   {"neutral_functions", std::move(neutral)},
                   {"settings", JsonFields::of(unless_empty(preparation.settings))},
                   {"temporary", JsonFields::of(unless_empty(temporary))}});
}

std::string torch_alone_command(const std::string& program) {
  return fmt::format(
      "{0} -m pip install --no-deps torch && {0} -m pip install numpy typing_extensions sympy "
      "networkx jinja2 filelock fsspec setuptools",
      shell_word(is_python(program) ? program : std::string("python")));
}

std::vector<std::string> prepare_for(const std::vector<std::string>& program, const Cache& cache) {
  if (!is_python(program.front())) return {};
  const std::string torch = output_of(
      {program.front(), "-c",
       "import importlib.util as u; s = u.find_spec('torch'); print(s.origin if s else '')"});
  if (torch.empty() || torch == "\n") {
    throw UsageError(
        fmt::format("{} has no torch; on a virtual GPU it needs none of NVIDIA's packages: {}",
                    program.front(), torch_alone_command(program.front())));
  }
  const auto folder = std::filesystem::path(torch.substr(0, torch.find('\n'))).parent_path();
  const TorchNeeds needs = torch_needs(folder);
  const Implementation ours = implementation();
  write_stand_ins(needs, cache, ours);
  return missing(needs, ours.functions);
}

}  // namespace memreplay
