#include "output/command_host.hpp"

namespace memreplay {
namespace {

thread_local CommandHost* current = nullptr;

}  // namespace

CommandHost* command_host() { return current; }

CommandHostScope::CommandHostScope(CommandHost& host) { current = &host; }

CommandHostScope::~CommandHostScope() { current = nullptr; }

}  // namespace memreplay
