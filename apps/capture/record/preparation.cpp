#include "record/preparation.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "elf/elf_file.hpp"
#include "files/files.hpp"
#include "folders/cache.hpp"
#include "record/program.hpp"
#include "report/parts/json_parts.hpp"
#include "stand_ins/torch_needs.hpp"
#include "stand_ins/write_stand_ins.hpp"

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

/// "python", "python3", "python3.11"
bool is_python(const std::string& program) {
  const std::string name = std::filesystem::path(program).filename();
  return name.starts_with("python") &&
         name.find_first_not_of("0123456789.", std::string_view("python").size()) == name.npos;
}

}  // namespace

PreparedTorch prepared(Cache& cache, const std::filesystem::path& torch_folder,
                       const std::optional<VirtualCard>& card, const VirtualBehaviour& behaviour) {
  return {.implementation = embedded_folder(cache) / kImplementation,
          .stand_ins = write_stand_ins(torch_needs(torch_folder), cache, implementation()),
          .settings = card ? settings_of(*card, behaviour) : "",
          .temporary = cache.leave()};
}

std::string to_json(const PreparedTorch& preparation) {
  const auto& temporary = preparation.temporary;
  return dump(Json{{"implementation", preparation.implementation.string()},
                   {"stand_ins", preparation.stand_ins.string()},
                   {"settings", text_or_null(preparation.settings)},
                   {"temporary", text_or_null(temporary ? temporary->string() : "")}});
}

void prepare_for(const std::vector<std::string>& program, const Cache& cache) {
  if (!is_python(program.front())) return;
  const std::string torch = output_of(
      {program.front(), "-c",
       "import importlib.util as u; s = u.find_spec('torch'); print(s.origin if s else '')"});
  if (torch.empty() || torch == "\n") {
    throw UsageError(
        fmt::format("{} has no torch; expected one that was built with CUDA (pip "
                    "install torch)",
                    program.front()));
  }
  const auto folder = std::filesystem::path(torch.substr(0, torch.find('\n'))).parent_path();
  write_stand_ins(torch_needs(folder), cache, implementation());
}

}  // namespace memreplay
