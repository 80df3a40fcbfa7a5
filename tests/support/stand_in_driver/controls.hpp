#pragma once

#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "support/stand_in_driver/stand_in.hpp"

/// The functions of stand_in.hpp, of the stand-in that lies at that path.
class StandInControls {
 public:
  explicit StandInControls(const char* path) : library_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) throw std::runtime_error(dlerror());
    find(reset, "stand_in_reset");
    find(set_capacity, "stand_in_set_capacity");
    find(set_latency_us, "stand_in_set_latency_us");
    find(set_devices, "stand_in_set_devices");
    find(set_attribute, "stand_in_set_attribute");
    find(fail_call, "stand_in_fail_call");
    find(failed_call, "stand_in_failed_call");
    find(calls, "stand_in_calls");
    find(leaks, "stand_in_leaks");
    find(leaks_text, "stand_in_leaks_text");
    find(misuse, "stand_in_misuse");
    find(misuse_text, "stand_in_misuse_text");
  }

  decltype(&stand_in_reset) reset;
  decltype(&stand_in_set_capacity) set_capacity;
  decltype(&stand_in_set_latency_us) set_latency_us;
  decltype(&stand_in_set_devices) set_devices;
  decltype(&stand_in_set_attribute) set_attribute;
  decltype(&stand_in_fail_call) fail_call;
  decltype(&stand_in_failed_call) failed_call;
  decltype(&stand_in_calls) calls;
  decltype(&stand_in_leaks) leaks;
  decltype(&stand_in_leaks_text) leaks_text;
  decltype(&stand_in_misuse) misuse;
  decltype(&stand_in_misuse_text) misuse_text;

 private:
  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (function == nullptr) throw std::runtime_error(std::string("the stand-in has no ") + name);
  }

  void* library_;
};
