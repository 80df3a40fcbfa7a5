#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "answers.hpp"
#include "convolutions.hpp"
#include "cudnn.hpp"
#include "cudnn_asking.hpp"
#include "cudnn_questions.hpp"
#include "settings.hpp"

// cuDNN's graphs: descriptors that remember what they were told. The engines for a graph are the
// real library's, where there is one to be asked; else there is one, whatever the graph.
using namespace memreplay::gpu;
using namespace memreplay::gpu::cudnn;

namespace {

/// Our own attributes of an engine's configuration: what its plan asks for, and where it stands
/// among the answers to a question.
constexpr int kWorkspaceOfLibrary = -1;
constexpr int kModeOfLibrary = -2;
constexpr int kPlaceOfLibrary = -3;

struct Content;
using Contents = std::vector<std::shared_ptr<Content>>;

struct Attribute {
  int type = type::kInt64;
  std::int64_t count = 0;
  std::vector<char> bytes;  ///< plain elements
  Contents parts;           ///< descriptors
};

struct Content {
  int kind;
  std::map<int, Attribute> attributes;
};

/// Its content may be shared with descriptors that were made from it, and outlive it.
struct Descriptor {
  std::shared_ptr<Content> content;
};

/// In bytes, by cudnnBackendAttributeType_t: what is not named is an enumeration.
std::size_t size_of(int type) {
  switch (type) {
    case 2:
    case 24:
      return 1;  // bool, char
    case 0:
    case type::kInt64:
    case 5:
    case 6:
      return 8;  // handle, double, pointer
    case 26:
      return 16;  // fraction
    default:
      return 4;
  }
}

Attribute of_number(std::int64_t number) {
  Attribute made{.count = 1, .bytes = std::vector<char>(sizeof number), .parts = {}};
  std::memcpy(made.bytes.data(), &number, sizeof number);
  return made;
}

Attribute of_text(const std::string& text) {
  return {.type = type::kChar,
          .count = static_cast<std::int64_t>(text.size()),
          .bytes = {text.begin(), text.end()},
          .parts = {}};
}

Attribute of_notes(int type, const std::vector<int>& notes) {
  const auto* bytes = reinterpret_cast<const char*>(notes.data());
  return {.type = type,
          .count = static_cast<std::int64_t>(notes.size()),
          .bytes = {bytes, bytes + notes.size() * sizeof(int)},
          .parts = {}};
}

Attribute of_parts(Contents parts) {
  const auto count = static_cast<std::int64_t>(parts.size());
  return {.type = type::kDescriptor, .count = count, .bytes = {}, .parts = std::move(parts)};
}

/// nullptr where it was not told.
const Attribute* told(const Content& content, int name) {
  const auto found = content.attributes.find(name);
  return found == content.attributes.end() ? nullptr : &found->second;
}

/// An enumeration's value; 0 where it was not told.
int number_in(const Content& content, int name) {
  int number = 0;
  const Attribute* const found = told(content, name);
  if (found && found->bytes.size() >= sizeof number)
    std::memcpy(&number, found->bytes.data(), sizeof number);
  return number;
}

/// A graph as questions have it (record/cudnn_library.hpp): each descriptor after its parts.
class GraphText {
 public:
  explicit GraphText(const std::shared_ptr<Content>& graph) { add(graph); }
  const std::string& text() const { return text_; }

 private:
  std::size_t add(const std::shared_ptr<Content>& content) {
    if (const auto known = places_.find(content.get()); known != places_.end()) {
      return known->second;
    }
    std::string own = std::to_string(content->kind);
    for (const auto& [name, attribute] : content->attributes) {
      if (attribute.type == type::kHandle) continue;  // the library is asked without one
      own += ' ' + std::to_string(name) + ':' + std::to_string(attribute.type) + ':' +
             std::to_string(attribute.count) + ':';
      for (std::size_t i = 0; i < attribute.parts.size(); ++i) {
        own += (i == 0 ? "" : ",") + std::to_string(add(attribute.parts[i]));
      }
      for (const char byte : attribute.bytes) add_byte(own, static_cast<unsigned char>(byte));
    }
    text_ += own + ';';
    return places_.emplace(content.get(), places_.size()).first->second;
  }
  static void add_byte(std::string& text, unsigned char byte) {
    constexpr const char* kDigits = "0123456789abcdef";
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }

  std::string text_;
  std::map<const Content*, std::size_t> places_;
};

/// With what the library says of it, if it was asked.
std::shared_ptr<Content> configuration(const Attribute* graph, const CudnnEngine* known) {
  auto engine = std::make_shared<Content>(Content{kind::kEngine, {}});
  if (graph) engine->attributes[attribute::kEngineGraph] = *graph;
  engine->attributes[attribute::kEngineIndex] = of_number(known ? known->index : 0);
  auto made = std::make_shared<Content>(Content{kind::kEngineConfiguration, {}});
  if (known) {
    engine->attributes[attribute::kNumericalNotes] =
        of_notes(type::kNumericalNote, known->numerical_notes);
    engine->attributes[attribute::kBehaviourNotes] =
        of_notes(type::kBehaviourNote, known->behaviour_notes);
    made->attributes[kWorkspaceOfLibrary] = of_number(known->workspace);
  }
  made->attributes[attribute::kConfiguredEngine] = of_parts({std::move(engine)});
  return made;
}

/// A part that was told; nullptr: none was.
const Content* part_of(const Content* content, int name) {
  const Attribute* const found = content ? told(*content, name) : nullptr;
  return found && !found->parts.empty() ? found->parts.front().get() : nullptr;
}

std::vector<std::uint64_t> numbers_of(const Content& content, int name) {
  const Attribute* const found = told(content, name);
  std::vector<std::uint64_t> numbers(found ? found->bytes.size() / sizeof(std::uint64_t) : 0);
  if (found) std::memcpy(numbers.data(), found->bytes.data(), numbers.size() * sizeof numbers[0]);
  return numbers;
}

/// The attributes of an operation begin with the convolution; filter, input and output follow.
struct ConvolutionOperation {
  int kind;
  Convolution::Pass pass;
  int first;
};
constexpr ConvolutionOperation kConvolutions[] = {
    {10, Convolution::Pass::forward, 702},
    {12, Convolution::Pass::data, 708},
    {11, Convolution::Pass::filter, 714},
};

bool is_float_convolution(const Attribute* graph) {
  const Content* const asked =
      graph && !graph->parts.empty() ? graph->parts.front().get() : nullptr;
  const Content* const operation = part_of(asked, attribute::kOperations);
  if (!operation) return false;
  const auto known = std::ranges::find(kConvolutions, operation->kind, &ConvolutionOperation::kind);
  if (known == std::end(kConvolutions)) return false;
  const Content* const input = part_of(operation, known->first + 2);
  return input && number_in(*input, attribute::kElementType) == 0;
}

/// Ours: one that uses tensor cores and one that does not. PyTorch takes the first that its
/// switches allow, and allow_tf32 shows nowhere else.
Contents modelled_configurations(const Attribute* graph) {
  constexpr int kTensorCore = 0;
  const auto with = configuration(graph, nullptr);
  const auto without = configuration(graph, nullptr);
  const auto engine_of = [](const auto& made) {
    return made->attributes[attribute::kConfiguredEngine].parts.front();
  };
  engine_of(with)->attributes[attribute::kNumericalNotes] =
      of_notes(type::kNumericalNote, {kTensorCore});
  engine_of(without)->attributes[attribute::kEngineIndex] = of_number(1);
  return {with, without};
}

/// The engines for the graph that was asked about.
Attribute heuristic_results(const Content& heuristic) {
  const Attribute* const graph = told(heuristic, attribute::kHeuristicGraph);
  if (graph && !graph->parts.empty()) {
    const int mode = number_in(heuristic, attribute::kHeuristicMode);
    if (const auto known = ask_cudnn(mode, GraphText(graph->parts.front()).text())) {
      Contents all;
      for (const CudnnEngine& engine : *known) {
        auto& attributes = all.emplace_back(configuration(graph, &engine))->attributes;
        attributes[kModeOfLibrary] = of_number(mode);
        attributes[kPlaceOfLibrary] = of_number(static_cast<std::int64_t>(all.size()) - 1);
      }
      return of_parts(std::move(all));
    }
  }
  return of_parts(is_float_convolution(graph) ? modelled_configurations(graph)
                                              : Contents{configuration(graph, nullptr)});
}

std::optional<std::uint64_t> convolution_workspace(const Content& operation, bool tensor_cores) {
  const auto known = std::ranges::find(kConvolutions, operation.kind, &ConvolutionOperation::kind);
  if (known == std::end(kConvolutions)) return std::nullopt;
  const Content* const convolution = part_of(&operation, known->first);
  const Content* const filter = part_of(&operation, known->first + 1);
  const Content* const input = part_of(&operation, known->first + 2);
  const Content* const output = part_of(&operation, known->first + 3);
  if (!convolution || !filter || !input || !output) return std::nullopt;
  const int type = number_in(*input, attribute::kElementType);
  const auto strides = numbers_of(*input, attribute::kTensorStrides);
  Convolution asked{.pass = known->pass,
                    .element = element_size(type),
                    .is_float16 = type == 2,
                    .tensor_cores = tensor_cores || type != 0,
                    .capability = settings().major * 10 + settings().minor,
                    .multiprocessors = static_cast<std::uint64_t>(settings().multiprocessors),
                    .input = numbers_of(*input, attribute::kSizes),
                    .filter = numbers_of(*filter, attribute::kSizes),
                    .output = numbers_of(*output, attribute::kSizes),
                    .strides = numbers_of(*convolution, attribute::kStrides),
                    .padding = numbers_of(*convolution, attribute::kPadding),
                    .dilations = numbers_of(*convolution, attribute::kDilations)};
  const std::size_t rank = strides.size();
  if (rank < 3 || asked.input.size() != rank || asked.filter.size() != rank ||
      asked.output.size() != rank)
    return std::nullopt;
  asked.channels_last = strides[1] == 1 && strides[rank - 1] > 1;
  return workspace_of(asked);
}

/// What the plan for a graph asks for. Attention takes a little, on an H100 always as much.
std::uint64_t modelled_workspace(const Content& plan) {
  constexpr std::uint64_t kOfAttention = 256;
  const Content* const engine =
      part_of(part_of(&plan, attribute::kPlanConfiguration), attribute::kConfiguredEngine);
  const Content* const graph = part_of(engine, attribute::kEngineGraph);
  const Attribute* const operations = graph ? told(*graph, attribute::kOperations) : nullptr;
  if (!operations) return 0;
  const bool tensor_cores = told(*engine, attribute::kNumericalNotes) != nullptr;
  for (const auto& operation : operations->parts) {
    if (const auto asked = convolution_workspace(*operation, tensor_cores)) return *asked;
  }
  return operations->parts.size() > 1 ? kOfAttention : 0;
}

/// What the real library's plan for a graph asks for; unset: it was not asked.
std::optional<std::int64_t> workspace_by_library(const Content& plan) {
  const Content* const configured = part_of(&plan, attribute::kPlanConfiguration);
  const Attribute* const known = configured ? told(*configured, kWorkspaceOfLibrary) : nullptr;
  if (!known) return std::nullopt;
  std::int64_t workspace = 0;
  std::memcpy(&workspace, known->bytes.data(), sizeof workspace);
  return workspace;
}

/// A program that sets cudnn.benchmark executes the engines of a graph one after the other, those
/// that cuDNN prefers first.
void note_execution(const Content& plan) {
  struct Tried {
    std::set<const Content*> configurations;
    std::int64_t least = 0;
    std::int64_t most = 0;
  };
  static std::mutex& mutex = *new std::mutex;
  static auto& tried = *new std::map<std::shared_ptr<Content>, Tried>;
  const Content* const configured = part_of(&plan, attribute::kPlanConfiguration);
  const Content* const engine = part_of(configured, attribute::kConfiguredEngine);
  const Attribute* const graph = engine ? told(*engine, attribute::kEngineGraph) : nullptr;
  const auto workspace = workspace_by_library(plan);
  if (!workspace || !graph || graph->parts.empty()) return;
  const std::lock_guard lock(mutex);
  Tried& of_graph = tried[graph->parts.front()];
  engine_was_executed(*workspace);
  if (!of_graph.configurations.insert(configured).second) return;
  if (of_graph.configurations.size() == 1) of_graph.least = of_graph.most = *workspace;
  of_graph.least = std::min(of_graph.least, *workspace);
  of_graph.most = std::max(of_graph.most, *workspace);
  if (of_graph.configurations.size() > 1) {
    engines_were_timed(graph->parts.front().get(), of_graph.least, of_graph.most);
  }
}

/// By it PyTorch knows the engines that it leaves out.
std::string plan_as_json(const Content& plan) {
  const Content* const configured = part_of(&plan, attribute::kPlanConfiguration);
  const Content* const engine = part_of(configured, attribute::kConfiguredEngine);
  const Attribute* const graph = engine ? told(*engine, attribute::kEngineGraph) : nullptr;
  if (!graph || graph->parts.empty() || !told(*configured, kPlaceOfLibrary)) return "{}";
  const auto place = static_cast<std::size_t>(number_in(*configured, kPlaceOfLibrary));
  const std::string text = GraphText(graph->parts.front()).text();
  return ask_cudnn_for_plan(number_in(*configured, kModeOfLibrary), place, text).value_or("{}");
}

/// Remembered or derived; empty: there are none, as for an engine's knobs and notes.
Attribute value_of(const Content& content, int name) {
  if (const Attribute* found = told(content, name)) return *found;
  switch (name) {
    case attribute::kHeuristicResults:
      return heuristic_results(content);
    case attribute::kEngineCount:
      return of_number(1);
    case attribute::kEngineIndex:
    case attribute::kConfiguredWorkspace:
    case attribute::kConfiguredSharedMemory:
      return of_number(0);
    case attribute::kPlanWorkspace: {
      if (const auto known = workspace_by_library(content)) return of_number(*known);
      const std::uint64_t workspace = modelled_workspace(content);
      workspace_was_modelled("cudnnBackendExecute", workspace);
      return of_number(static_cast<std::int64_t>(workspace));
    }
    case attribute::kPlanAsJson:
      return content.kind == kind::kPlan ? of_text(plan_as_json(content)) : Attribute{};
    default:
      return {};
  }
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cudnnBackendCreateDescriptor(int kind, Handle* descriptor) {
  *descriptor = new Descriptor{std::make_shared<Content>(Content{kind, {}})};
  return kSuccess;
}

Status cudnnBackendDestroyDescriptor(Handle descriptor) { return destroy<Descriptor>(descriptor); }

Status cudnnBackendSetAttribute(Handle descriptor, int name, int type, std::int64_t count,
                                const void* elements) {
  if (count < 0 || (count > 0 && !elements)) return kBadParameter;
  Attribute told{.type = type, .count = count, .bytes = {}, .parts = {}};
  if (type == type::kDescriptor) {
    const auto* parts = static_cast<const Handle*>(elements);
    std::for_each_n(parts, count,
                    [&](Handle part) { told.parts.push_back(at<Descriptor>(part).content); });
  } else {
    const auto* bytes = static_cast<const char*>(elements);
    told.bytes.assign(bytes, bytes + static_cast<std::size_t>(count) * size_of(type));
  }
  at<Descriptor>(descriptor).content->attributes[name] = std::move(told);
  return kSuccess;
}

/// Descriptors are given by filling in those that the caller has made.
Status cudnnBackendGetAttribute(Handle descriptor, int name, int type, std::int64_t room,
                                std::int64_t* count, void* elements) {
  const Attribute value = value_of(*at<Descriptor>(descriptor).content, name);
  const std::int64_t filled =
      elements ? std::clamp(room, std::int64_t{0}, value.count) : value.count;
  if (count) *count = filled;
  if (!elements) return kSuccess;
  const auto given = static_cast<std::size_t>(filled);
  if (type == type::kDescriptor) {
    for (std::size_t i = 0; i < std::min(given, value.parts.size()); ++i)
      at<Descriptor>(static_cast<Handle*>(elements)[i]).content = value.parts[i];
  } else {
    std::memcpy(elements, value.bytes.data(), std::min(given * size_of(type), value.bytes.size()));
  }
  return kSuccess;
}

Status cudnnBackendExecute(Handle, Handle plan, Handle) {
  note_execution(*at<Descriptor>(plan).content);
  return computed();
}

}  // extern "C"
#pragma GCC visibility pop
