#include "trace/unpacking.hpp"

#include <algorithm>
#include <system_error>

#include "core/units.hpp"
#include "trace/decompress.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kWorthAThread = 2 * kMiB;

/// Nobody reads it any more.
struct Abandoned {};

}  // namespace

std::unique_ptr<Unpacking> Unpacking::begin(const Input& packed) {
  const auto size = stated_size(packed);
  if (!size || *size < kWorthAThread || std::thread::hardware_concurrency() < 2) return nullptr;
  try {
    return std::unique_ptr<Unpacking>(new Unpacking(packed, *size));
  } catch (const std::system_error&) {
    return nullptr;
  }
}

Unpacking::Unpacking(const Input& packed, std::size_t size)
    : packed_(packed),
      size_(size),
      content_(std::make_unique_for_overwrite<char[]>(size + kUnpackedAtOnce)),
      thread_([this](const std::stop_token& stop) { unpack(stop); }) {}

std::size_t Unpacking::wait_beyond(std::size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return arrived_ > std::min(count, size_ - 1) || failure_; });
  if (failure_) std::rethrow_exception(failure_);
  return arrived_;
}

char* Unpacking::room(const std::stop_token& stop, std::size_t used) {
  if (stop.stop_requested()) throw Abandoned();
  if (used > size_) throw Misstated();
  // The end of the file may still show that it is damaged: only then all has arrived.
  const std::lock_guard lock(mutex_);
  arrived_ = std::min(used, size_ - 1);
  changed_.notify_all();
  return content_.get() + used;
}

void Unpacking::unpack(const std::stop_token& stop) {
  std::exception_ptr failure;
  try {
    const std::size_t size =
        decompress(packed_, [&](std::size_t used) { return room(stop, used); });
    if (size != size_) throw Misstated();
  } catch (...) {
    failure = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  failure_ = failure;
  if (!failure) arrived_ = size_;
  changed_.notify_all();
}

}  // namespace memreplay
