#include "extensions/mcp/mcp_requests.hpp"

#include <nlohmann/json.hpp>
#include <streambuf>
#include <system_error>
#include <thread>
#include <utility>

namespace memreplay {
namespace {

constexpr std::size_t kMostWaiting = 1000;
constexpr const char* kCancelled = "notifications/cancelled";

std::optional<std::string> line_of(std::istream& in) {
  using Traits = std::streambuf::traits_type;
  std::string line;
  for (;;) {
    const int c = in.rdbuf()->sbumpc();
    if (Traits::eq_int_type(c, Traits::eof())) {
      return line.empty() ? std::nullopt : std::optional(std::move(line));
    }
    if (c == '\n') return line;
    if (line.size() <= McpRequests::kLongest) line += static_cast<char>(c);
  }
}

/// The id of the request that a line cancels; empty where it does nothing of the kind.
std::string cancelled_by(const std::string& line) {
  if (line.find(kCancelled) == line.npos) return "";
  const auto flat = [](int depth, auto, auto&) { return depth < 4; };
  const nlohmann::json message = nlohmann::json::parse(line, flat, false);
  if (!message.is_object() || message.contains("id")) return "";
  const auto method = message.find("method");
  const auto parameters = message.find("params");
  if (method == message.end() || *method != kCancelled) return "";
  if (parameters == message.end() || !parameters->is_object()) return "";
  const auto id = parameters->find("requestId");
  return id == parameters->end() ? "" : id->dump();
}

}  // namespace

McpRequests::McpRequests(std::istream& in) : shared_(std::make_shared<Shared>(in)) {
  in.tie(nullptr);  // answers are written on another thread
  try {
    std::thread(read, shared_).detach();
    is_read_beside_ = true;
  } catch (const std::system_error&) {
  }
}

McpRequests::~McpRequests() = default;

void McpRequests::read(const std::shared_ptr<Shared>& shared) {
  while (std::optional<std::string> line = line_of(shared->in)) {
    const std::string id = cancelled_by(*line);
    std::unique_lock lock(shared->mutex);
    if (id.empty()) {
      shared->changed.wait(lock, [&] { return shared->waiting.size() < kMostWaiting; });
      shared->waiting.push_back(std::move(*line));
    } else if (id == shared->begun) {
      shared->cancelled = true;
    } else if (shared->cancelled_ids.size() < kMostWaiting) {
      shared->cancelled_ids.insert(id);
    }
    shared->changed.notify_all();
  }
  const std::lock_guard lock(shared->mutex);
  shared->has_ended = true;
  shared->changed.notify_all();
}

std::optional<std::string> McpRequests::next() {
  if (!is_read_beside_) return line_of(shared_->in);
  std::unique_lock lock(shared_->mutex);
  shared_->begun.clear();
  shared_->cancelled = false;
  shared_->changed.wait(lock, [&] { return shared_->has_ended || !shared_->waiting.empty(); });
  if (shared_->waiting.empty()) return std::nullopt;
  std::string line = std::move(shared_->waiting.front());
  shared_->waiting.pop_front();
  shared_->changed.notify_all();
  return line;
}

bool McpRequests::begin(const std::string& id) {
  const std::lock_guard lock(shared_->mutex);
  const bool is_cancelled = shared_->cancelled_ids.erase(id) > 0;
  if (shared_->waiting.empty()) shared_->cancelled_ids.clear();
  shared_->begun = id;
  return !is_cancelled;
}

}  // namespace memreplay
