// A cuDNN that answers without a device: three engines for every graph, of which the second has no
// plan. What PRETENDED_CUDNN says it does instead.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Descriptor {
  int kind = 0;
  std::map<int, std::string> values;
  std::int64_t engine = -1;
};

bool told(std::string_view what) {
  const char* const value = std::getenv("PRETENDED_CUDNN");
  return value != nullptr && what == value;
}

constexpr int kConfiguration = 3;
constexpr int kPlan = 5;
constexpr int kGraph = 15;
constexpr int kDevice = 38;
constexpr int kDescriptorType = 15;
constexpr std::int64_t kEngines = 3;

}  // namespace

extern "C" {

std::size_t cudnnGetVersion() { return told("is old") ? 90100 : 91900; }

void cudnnGetLastErrorString(char* text, std::size_t room) {
  std::strncpy(text, "HasMember(\"warpSize\")\nis false", room);
}

int cudnnBackendCreateDescriptor(int kind, void** made) {
  *made = new Descriptor{kind, {}, -1};
  return 0;
}

int cudnnBackendDestroyDescriptor(void* descriptor) {
  delete static_cast<Descriptor*>(descriptor);
  return 0;
}

int cudnnBackendSetAttribute(void* descriptor, int name, int type, std::int64_t count,
                             const void* elements) {
  auto& of = *static_cast<Descriptor*>(descriptor);
  if (type == kDescriptorType) {
    const auto& part = **static_cast<Descriptor* const*>(elements);
    if (part.kind == kConfiguration) of.engine = part.engine;
  } else {
    const std::size_t size = type == 24 ? 1 : type == 3 ? 8 : 4;
    of.values[name].assign(static_cast<const char*>(elements),
                           static_cast<std::size_t>(count) * size);
  }
  return 0;
}

int cudnnBackendFinalize(void* descriptor) {
  const auto& of = *static_cast<Descriptor*>(descriptor);
  if (of.kind == kGraph && told("ends")) std::_Exit(3);
  if (of.kind == kDevice && of.values.at(2702).find("\"warpSize\":32") == std::string::npos) {
    return 2000;
  }
  return of.kind == kPlan && of.engine == 1 ? 3000 : 0;
}

int cudnnBackendGetAttribute(void* descriptor, int name, int, std::int64_t room,
                             std::int64_t* count, void* elements) {
  const auto& of = *static_cast<Descriptor*>(descriptor);
  const auto give_number = [&](std::int64_t number) {
    *count = 1;
    *static_cast<std::int64_t*>(elements) = number;
  };
  if (name == 202) {
    *count = kEngines;
    for (std::int64_t i = 0; i < room; ++i) static_cast<Descriptor**>(elements)[i]->engine = i;
  } else if (name == 300) {
    (*static_cast<Descriptor**>(elements))->engine = of.engine;
  } else if (name == 402) {
    give_number(1000 * (of.engine + 1));
  } else if (name == 1301) {
    give_number(40 + of.engine);
  } else if (name == 1303) {
    *count = 2;
    const int notes[] = {2, 5};
    if (room >= 2) std::memcpy(elements, notes, sizeof notes);
  } else {
    *count = 0;
  }
  return 0;
}

}  // extern "C"
