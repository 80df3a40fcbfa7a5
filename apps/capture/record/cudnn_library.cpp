#include "record/cudnn_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <map>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "core/text.hpp"
#include "gpu/cudnn_asking.hpp"

namespace memreplay {
namespace {

using Descriptor = void*;
using Status = int;

constexpr std::size_t kFirstWithoutDevice = 90800;

namespace attribute = gpu::attribute;
namespace kind = gpu::kind;
namespace type = gpu::type;
using gpu::taken;

/// Why the library does not answer.
struct NoAnswer : std::runtime_error {
  using runtime_error::runtime_error;
};

class Library {
 public:
  Library(const std::string& folder, const std::string& driver) {
    // Whoever opens libcuda.so.1 from here on has this one, by its name.
    if (!driver.empty()) ::dlopen(driver.c_str(), RTLD_NOW);
    const std::string path = (std::filesystem::path(folder) / "libcudnn.so.9").string();
    library_ = ::dlopen(path.c_str(), RTLD_NOW);
    if (library_ == nullptr) throw NoAnswer(::dlerror());
    const auto version_of = function<std::size_t (*)()>("cudnnGetVersion");
    version_ = version_of();
    if (version_ < kFirstWithoutDevice) {
      throw NoAnswer(fmt::format(
          "cuDNN {} answers only where there is a GPU; expected 9.8 or later", version()));
    }
    create_ = function<decltype(create_)>("cudnnBackendCreateDescriptor");
    destroy_ = function<decltype(destroy_)>("cudnnBackendDestroyDescriptor");
    set_ = function<decltype(set_)>("cudnnBackendSetAttribute");
    get_ = function<decltype(get_)>("cudnnBackendGetAttribute");
    finalize_ = function<decltype(finalize_)>("cudnnBackendFinalize");
    last_error_ = function<decltype(last_error_)>("cudnnGetLastErrorString");
  }

  /// "9.19.0"
  std::string version() const {
    return fmt::format("{}.{}.{}", version_ / 10000, version_ / 100 % 100, version_ % 100);
  }

  Descriptor create(int kind) const {
    Descriptor made = nullptr;
    expect(create_(kind, &made));
    return made;
  }
  void destroy(Descriptor descriptor) const { destroy_(descriptor); }
  void set(Descriptor of, int name, int type, std::int64_t count, const void* elements) const {
    expect(set_(of, name, type, count, elements));
  }
  void finalize(Descriptor descriptor) const { expect(finalize_(descriptor)); }
  std::int64_t count(Descriptor of, int name, int type) const {
    std::int64_t count = 0;
    expect(get_(of, name, type, 0, &count, nullptr));
    return count;
  }
  /// How many of `room` elements it filled in.
  std::int64_t get(Descriptor of, int name, int type, std::int64_t room, void* elements) const {
    std::int64_t count = 0;
    expect(get_(of, name, type, room, &count, elements));
    return count;
  }

 private:
  template <typename Function>
  Function function(const char* name) const {
    void* const found = ::dlsym(library_, name);
    if (found == nullptr) throw NoAnswer(::dlerror());
    return reinterpret_cast<Function>(found);
  }
  void expect(Status status) const {
    if (status == 0) return;
    std::array<char, 512> said{};
    last_error_(said.data(), said.size() - 1);
    throw NoAnswer(fmt::format("cuDNN {} says {}: {}", version(), status, said.data()));
  }

  void* library_ = nullptr;
  std::size_t version_ = 0;
  Status (*create_)(int, Descriptor*) = nullptr;
  Status (*destroy_)(Descriptor) = nullptr;
  Status (*set_)(Descriptor, int, int, std::int64_t, const void*) = nullptr;
  Status (*get_)(Descriptor, int, int, std::int64_t, std::int64_t*, void*) = nullptr;
  Status (*finalize_)(Descriptor) = nullptr;
  void (*last_error_)(char*, std::size_t) = nullptr;
};

/// Descriptors that are gone with it, the last one first.
class Descriptors {
 public:
  explicit Descriptors(const Library& library) : library_(library) {}
  ~Descriptors() {
    while (!all_.empty()) {
      library_.destroy(all_.back());
      all_.pop_back();
    }
  }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  Descriptor create(int kind) { return all_.emplace_back(library_.create(kind)); }
  Descriptor at(std::size_t place) const { return all_.at(place); }
  Descriptor last() const { return all_.at(all_.size() - 1); }

 private:
  const Library& library_;
  std::vector<Descriptor> all_;
};

std::int64_t number(std::string_view text) {
  const auto parsed = parse_whole(std::string(text));
  if (!parsed) throw NoAnswer(fmt::format("the question has '{}'; expected a number", text));
  return static_cast<std::int64_t>(*parsed);
}

std::vector<unsigned char> bytes_of(std::string_view hexadecimal) {
  std::vector<unsigned char> bytes;
  for (std::size_t i = 0; i + 1 < hexadecimal.size(); i += 2) {
    bytes.push_back(
        static_cast<unsigned char>(std::stoi(std::string(hexadecimal.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

void set_attribute(const Library& library, const Descriptors& before, Descriptor descriptor,
                   std::string_view text) {
  const auto name = static_cast<int>(number(taken(text, ':')));
  const auto type = static_cast<int>(number(taken(text, ':')));
  const std::int64_t count = number(taken(text, ':'));
  if (type != type::kDescriptor) {
    const std::vector<unsigned char> bytes = bytes_of(text);
    library.set(descriptor, name, type, count, bytes.data());
    return;
  }
  std::vector<Descriptor> parts;
  while (!text.empty())
    parts.push_back(before.at(static_cast<std::size_t>(number(taken(text, ',')))));
  library.set(descriptor, name, type, count, parts.data());
}

/// The graph is the last of `made`.
void make_graph(const Library& library, std::string_view text, Descriptors& made) {
  while (!text.empty()) {
    std::string_view one = taken(text, ';');
    const Descriptor descriptor = made.create(static_cast<int>(number(taken(one, ' '))));
    while (!one.empty()) set_attribute(library, made, descriptor, taken(one, ' '));
    library.finalize(descriptor);
  }
}

std::vector<int> notes(const Library& library, Descriptor engine, int name, int type) {
  std::vector<int> all(static_cast<std::size_t>(library.count(engine, name, type)));
  const auto room = static_cast<std::int64_t>(all.size());
  if (room > 0)
    all.resize(static_cast<std::size_t>(library.get(engine, name, type, room, all.data())));
  return all;
}

Descriptor plan_of(const Library& library, Descriptor configuration, Descriptor device,
                   Descriptors& made) {
  const Descriptor plan = made.create(kind::kPlan);
  library.set(plan, attribute::kPlanConfiguration, type::kDescriptor, 1, &configuration);
  library.set(plan, attribute::kPlanDevice, type::kDescriptor, 1, &device);
  library.finalize(plan);
  return plan;
}

/// Unset where there is no plan.
std::optional<std::int64_t> planned_workspace(const Library& library, Descriptor configuration,
                                              Descriptor device) {
  Descriptors made(library);
  std::int64_t workspace = 0;
  try {
    const Descriptor plan = plan_of(library, configuration, device, made);
    library.get(plan, attribute::kPlanWorkspace, type::kInt64, 1, &workspace);
  } catch (const NoAnswer&) {
    return std::nullopt;
  }
  return workspace;
}

std::string plan_as_json(const Library& library, Descriptor configuration, Descriptor device) {
  Descriptors made(library);
  const Descriptor plan = plan_of(library, configuration, device, made);
  const std::int64_t room = library.count(plan, attribute::kPlanAsJson, type::kChar);
  std::string json(static_cast<std::size_t>(room), '\0');
  library.get(plan, attribute::kPlanAsJson, type::kChar, room, json.data());
  return json.c_str();
}

/// A word of the answer; unset where there is no plan.
std::optional<std::string> planned(const Library& library, Descriptor configuration,
                                   Descriptor device) {
  Descriptors made(library);
  Descriptor engine = made.create(kind::kEngine);
  library.get(configuration, attribute::kConfiguredEngine, type::kDescriptor, 1, &engine);
  const auto behaviour = notes(library, engine, attribute::kBehaviourNotes, type::kBehaviourNote);
  // A plan of what is compiled takes seconds; its configuration states the same.
  constexpr int kRuntimeCompilation = 0;
  std::optional<std::int64_t> workspace = 0;
  if (std::ranges::count(behaviour, kRuntimeCompilation) > 0) {
    library.get(configuration, attribute::kConfiguredWorkspace, type::kInt64, 1, &*workspace);
  } else {
    workspace = planned_workspace(library, configuration, device);
  }
  if (!workspace) return std::nullopt;
  std::int64_t index = 0;
  library.get(engine, attribute::kEngineIndex, type::kInt64, 1, &index);
  return fmt::format(
      "{}:{}:{}:{}", index, *workspace,
      fmt::join(notes(library, engine, attribute::kNumericalNotes, type::kNumericalNote), ","),
      fmt::join(behaviour, ","));
}

class Answers {
 public:
  Answers(const std::string& folder, const std::string& driver) : library_(folder, driver) {}

  std::string to(std::string_view question) {
    std::string_view place = taken(question, '\t');
    const auto mode = static_cast<int>(number(taken(place, '#')));
    const Descriptor device = device_of(taken(question, '\t'));
    Descriptors made(library_);
    make_graph(library_, question, made);
    const Descriptor graph = made.last();
    const std::vector<Engine> engines = engines_of(made, graph, mode, device);
    // A mode may know none where another does; a graph that none knows is not for here.
    constexpr int kInstant = 0, kFallback = 2;
    if (engines.empty() && engines_of(made, graph, kInstant, device).empty() &&
        engines_of(made, graph, kFallback, device).empty()) {
      throw NoAnswer(fmt::format("cuDNN {} has no engine for it", library_.version()));
    }
    std::string answer = "ok " + library_.version();
    if (!place.empty()) {
      const Engine& engine = engines.at(static_cast<std::size_t>(number(place)));
      return answer + ' ' + plan_as_json(library_, engine.configuration, device);
    }
    for (const Engine& engine : engines) answer += ' ' + engine.word;
    return answer;
  }

 private:
  struct Engine {
    Descriptor configuration;
    std::string word;
  };
  std::vector<Engine> engines_of(Descriptors& made, Descriptor graph, int mode, Descriptor device) {
    const Descriptor heuristic = made.create(kind::kHeuristic);
    library_.set(heuristic, attribute::kHeuristicGraph, type::kDescriptor, 1, &graph);
    library_.set(heuristic, attribute::kHeuristicMode, type::kMode, 1, &mode);
    library_.set(heuristic, attribute::kHeuristicDevice, type::kDescriptor, 1, &device);
    library_.finalize(heuristic);
    std::vector<Descriptor> results;
    const std::int64_t count =
        library_.count(heuristic, attribute::kHeuristicResults, type::kDescriptor);
    for (std::int64_t i = 0; i < count; ++i)
      results.push_back(made.create(kind::kEngineConfiguration));
    const std::int64_t given = count == 0 ? 0
                                          : library_.get(heuristic, attribute::kHeuristicResults,
                                                         type::kDescriptor, count, results.data());
    std::vector<Engine> engines;
    for (std::int64_t i = 0; i < given; ++i) {
      const Descriptor configuration = results[static_cast<std::size_t>(i)];
      if (const auto word = planned(library_, configuration, device)) {
        engines.push_back({configuration, *word});
      }
    }
    return engines;
  }

  /// Made once for each card, and kept.
  Descriptor device_of(std::string_view json) {
    const auto known = devices_.find(json);
    if (known != devices_.end()) return known->second;
    const Descriptor device = library_.create(kind::kDevice);
    library_.set(device, attribute::kDeviceAsJson, type::kChar,
                 static_cast<std::int64_t>(json.size()), json.data());
    library_.finalize(device);
    devices_.emplace(json, device);
    return device;
  }

  Library library_;
  std::map<std::string, Descriptor, std::less<>> devices_;
};

std::string in_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

void answer_graphs(const std::string& folder, const std::string& driver, std::istream& questions,
                   std::ostream& answers) {
  std::optional<Answers> library;
  for (std::string question; std::getline(questions, question);) {
    std::string answer;
    try {
      if (!library) library.emplace(folder, driver);
      answer = in_one_line(library->to(question));
    } catch (const std::exception& error) {
      answer = "error " + in_one_line(error.what());
    }
    answers << answer << '\n' << std::flush;
  }
}

}  // namespace memreplay
