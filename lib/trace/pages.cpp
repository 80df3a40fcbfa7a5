#include "trace/pages.hpp"

#include "trace/decompress.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kReleaseEvery = 4 * kMiB;
constexpr std::uintptr_t kPage = 4095;

}  // namespace

PagesBehind::PagesBehind(const Input& input)
    : input_(input), from_(input.bytes.data()), next_(from_ + kReleaseEvery) {}

void PagesBehind::release(const char* p) {
  if (input_.mapped) {
    const auto from = (reinterpret_cast<std::uintptr_t>(from_) + kPage) & ~kPage;
    const auto to = reinterpret_cast<std::uintptr_t>(p) & ~kPage;
    madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
  }
  if (input_.arrival != nullptr) {
    input_.arrival->forget(static_cast<std::size_t>(p - input_.bytes.data()));
  }
  from_ = p;
  next_ = p + kReleaseEvery;
  if (!input_.progress) return;
  const char* const begin = input_.bytes.data();
  input_.progress(static_cast<double>(p - begin) / static_cast<double>(input_.bytes.size()));
}

}  // namespace memreplay
