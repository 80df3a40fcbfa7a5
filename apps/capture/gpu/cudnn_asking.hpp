#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

/// What a program on a virtual GPU and who asks the real cuDNN for it (record/cudnn_service.hpp)
/// have in common.
namespace memreplay::gpu {

/// Numbers of cudnnBackendDescriptorType_t, cudnnBackendAttributeName_t and
/// cudnnBackendAttributeType_t.
namespace kind {
inline constexpr int kEngine = 2;
inline constexpr int kEngineConfiguration = 3;
inline constexpr int kHeuristic = 4;
inline constexpr int kPlan = 5;
inline constexpr int kDevice = 38;
}  // namespace kind
namespace attribute {
inline constexpr int kDilations = 102;
inline constexpr int kStrides = 103;
inline constexpr int kPadding = 105;
inline constexpr int kHeuristicMode = 200;
inline constexpr int kHeuristicGraph = 201;
inline constexpr int kHeuristicResults = 202;
inline constexpr int kHeuristicDevice = 204;
inline constexpr int kConfiguredEngine = 300;
inline constexpr int kConfiguredWorkspace = 303;
inline constexpr int kConfiguredSharedMemory = 304;
inline constexpr int kPlanConfiguration = 401;
inline constexpr int kPlanWorkspace = 402;
inline constexpr int kPlanAsJson = 405;
inline constexpr int kPlanDevice = 407;
inline constexpr int kOperations = 801;
inline constexpr int kEngineCount = 802;
inline constexpr int kElementType = 901;
inline constexpr int kSizes = 902;
inline constexpr int kTensorStrides = 903;
inline constexpr int kEngineGraph = 1300;
inline constexpr int kEngineIndex = 1301;
inline constexpr int kNumericalNotes = 1303;
inline constexpr int kBehaviourNotes = 1305;
inline constexpr int kDeviceAsJson = 2702;
}  // namespace attribute
namespace type {
inline constexpr int kHandle = 0;
inline constexpr int kInt64 = 3;
inline constexpr int kMode = 8;
inline constexpr int kNumericalNote = 11;
inline constexpr int kDescriptor = 15;
inline constexpr int kBehaviourNote = 19;
inline constexpr int kChar = 24;
}  // namespace type

/// Takes what stands before the mark, and the mark, from `text`.
inline std::string_view taken(std::string_view& text, char mark) {
  const std::string_view part = text.substr(0, text.find(mark));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

/// False where nobody receives it any more.
inline bool send_all(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (size <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

/// `call` is bind or connect: with the abstract address of this name. What it returns.
template <typename Call>
int at_abstract_address(Call call, int socket, std::string_view name) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  name = name.substr(0, sizeof address.sun_path - 1);
  std::ranges::copy(name, address.sun_path + 1);
  const std::size_t size = offsetof(sockaddr_un, sun_path) + 1 + name.size();
  return call(socket, reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(size));
}

}  // namespace memreplay::gpu
