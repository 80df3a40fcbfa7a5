#pragma once

#include <atomic>
#include <functional>
#include <string>

namespace memreplay {

/// Who may end long work early, and who hears how far it is.
struct Control {
  const std::atomic<bool>* stop = nullptr;  ///< becomes true to end the work; null: nobody can
  /// Called now and then with what is being done and the share of it; may be empty.
  std::function<void(const std::string& what, double share)> progress = {};

  bool stopped() const { return stop != nullptr && stop->load(std::memory_order_relaxed); }
  void show(const std::string& what, double share) const {
    if (progress) progress(what, share);
  }
};

}  // namespace memreplay
