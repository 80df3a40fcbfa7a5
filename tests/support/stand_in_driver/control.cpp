#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "stand_in.hpp"
#include "world.hpp"

namespace stand_in {
namespace {

thread_local bool is_current = false;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void read_environment(World& w) {
  w.settings.capacity = from_environment("STAND_IN_CAPACITY", w.settings.capacity);
  w.settings.latency_us = from_environment("STAND_IN_LATENCY_US", w.settings.latency_us);
  const std::uint64_t n = from_environment("STAND_IN_FAIL_CALL", 0);
  const std::uint64_t error = from_environment("STAND_IN_FAIL_WITH", CUDA_ERROR_UNKNOWN);
  if (n > 0) w.faults.push_back({"", n, static_cast<CUresult>(error)});
}

// It is never destroyed: the program may still call when it ends.
World*& the_world() {
  static World* the_one = [] {
    auto* made = new World;
    read_environment(*made);
    return made;
  }();
  return the_one;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

void pass_time(std::uint64_t us) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(us);
  while (us > 0 && std::chrono::steady_clock::now() < until) {
  }
}

__attribute__((destructor)) void report() {
  const char* const path = std::getenv("STAND_IN_REPORT");
  if (path == nullptr) return;
  const std::vector<std::string> leaks = world().leaks();
  const std::vector<std::string>& misuse = world().misuse;
  std::ofstream out(path);
  out << "leaks " << leaks.size() << "\nmisuse " << misuse.size() << "\ncalls "
      << stand_in_calls(nullptr) << "\n"
      << joined(leaks) << joined(misuse);
}

}  // namespace

World& world() { return *the_world(); }

std::recursive_mutex& world_mutex() {
  static auto* const mutex = new std::recursive_mutex;
  return *mutex;
}

void set_current(bool current) { is_current = current; }

std::string hex(std::uint64_t address) {
  std::ostringstream text;
  text << std::hex << "0x" << address;
  return text.str();
}

CUresult admit(const char* call, bool needs_context) {
  World& w = world();
  ++w.calls[call];
  pass_time(w.settings.latency_us);
  for (auto fault = w.faults.begin(); fault != w.faults.end(); ++fault) {
    if (!fault->call.empty() && fault->call != call) continue;
    if (--fault->calls_until > 0) continue;
    const CUresult error = fault->error;
    w.faults.erase(fault);
    w.failed_call = call;
    return error;
  }
  if (std::string(call) == "cuInit") return CUDA_SUCCESS;
  if (!w.initialised)
    return w.wrong(std::string(call) + " before cuInit", CUDA_ERROR_NOT_INITIALIZED);
  if (needs_context && (!is_current || w.contexts == 0)) {
    return w.wrong(std::string(call) + " without a context", CUDA_ERROR_INVALID_CONTEXT);
  }
  return CUDA_SUCCESS;
}

CUresult World::wrong(const std::string& what, CUresult result) {
  misuse.push_back("misuse: " + what);
  return result;
}

bool World::charge(std::uint64_t bytes) {
  if (bytes > settings.capacity - charged) return false;
  charged += bytes;
  return true;
}

bool World::can_access(CUdeviceptr from, CUdeviceptr to) const {
  while (from < to) {
    auto range = accessible.upper_bound(from);
    if (range == accessible.begin() || (--range)->second <= from) return false;
    from = range->second;
  }
  return true;
}

void World::synchronise() {
  work.finish_all();
  trim_pools();
}

std::vector<std::string> World::leaks() const {
  std::vector<std::string> all;
  const auto add = [&](const std::string& what) { all.push_back("leak: " + what); };
  for (const auto& [at, allocation] : allocations) {
    add((allocation.pool == nullptr ? "allocation at " : "block of a pool at ") + hex(at));
  }
  for (const auto& [handle, piece] : pieces) {
    if (!piece.released) add("physical memory of " + std::to_string(piece.size) + " bytes");
  }
  for (const auto& [at, mapping] : mappings) add("mapping at " + hex(at));
  for (const auto& [at, size] : reservations) add("addresses at " + hex(at));
  for (const auto& [handle, pool] : pools) {
    if (!pool.destroyed) add("memory pool");
  }
  for (std::size_t i = 0; i < work.streams(); ++i) add("stream");
  for (std::size_t i = 0; i < events.size(); ++i) add("event");
  for (std::size_t i = 0; i < modules.size(); ++i) add("module");
  for (int i = 0; i < contexts; ++i) add("primary context");
  return all;
}

}  // namespace stand_in

using stand_in::world;

extern "C" {

void stand_in_reset() {
  const std::lock_guard lock(stand_in::world_mutex());
  stand_in::World& w = world();
  for (const auto& [at, allocation] : w.allocations) {
    stand_in::give_back_host_memory(at, allocation.charged);
  }
  for (const auto& [at, size] : w.reservations) stand_in::give_back_addresses(at, size);
  delete stand_in::the_world();
  stand_in::the_world() = new stand_in::World;
  stand_in::read_environment(world());
}

void stand_in_set_capacity(std::uint64_t bytes) { world().settings.capacity = bytes; }
void stand_in_set_latency_us(std::uint64_t us) { world().settings.latency_us = us; }
void stand_in_set_devices(int count) { world().settings.devices = count; }
void stand_in_set_attribute(int attribute, int value) {
  world().settings.attributes[attribute] = value;
}

void stand_in_fail_call(const char* name, std::uint64_t n, int error) {
  world().faults.push_back({name == nullptr ? "" : name, n, static_cast<CUresult>(error)});
}

const char* stand_in_failed_call() { return world().failed_call.c_str(); }

std::uint64_t stand_in_calls(const char* name) {
  std::uint64_t sum = 0;
  for (const auto& [call, count] : world().calls) {
    if (name == nullptr || call == name) sum += count;
  }
  return sum;
}

std::uint64_t stand_in_leaks() { return world().leaks().size(); }
std::uint64_t stand_in_misuse() { return world().misuse.size(); }

const char* stand_in_leaks_text() {
  static std::string text;
  text = stand_in::joined(world().leaks());
  return text.c_str();
}

const char* stand_in_misuse_text() {
  static std::string text;
  text = stand_in::joined(world().misuse);
  return text.c_str();
}
}
