#include "core/call_times.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace memreplay {
namespace {

// 64 buckets for each power of two; below 64 every number has its own.
constexpr unsigned kLog2Buckets = 6;

std::size_t bucket_of(std::uint64_t ns) {
  if (ns >> kLog2Buckets == 0) return ns;
  const unsigned shift = static_cast<unsigned>(std::bit_width(ns)) - 1 - kLog2Buckets;
  return (std::size_t{shift} << kLog2Buckets) + (ns >> shift);
}

std::uint64_t upper_end(std::size_t bucket) {
  if (bucket >> (kLog2Buckets + 1) == 0) return bucket;
  const std::size_t shift = (bucket >> kLog2Buckets) - 1;
  const std::uint64_t top = bucket - (shift << kLog2Buckets);
  return ((top + 1) << shift) - 1;
}

}  // namespace

void Durations::add(std::uint64_t ns) {
  const std::size_t bucket = bucket_of(ns);
  if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
  ++buckets_[bucket];
  ++count_;
  sum_ += ns;
  largest_ = std::max(largest_, ns);
}

void Durations::add(const Durations& other) {
  buckets_.resize(std::max(buckets_.size(), other.buckets_.size()));
  for (std::size_t i = 0; i < other.buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  largest_ = std::max(largest_, other.largest_);
}

std::uint64_t Durations::quantile(double share) const {
  const auto wanted = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_))));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen >= wanted) return std::min(upper_end(bucket), largest_);
  }
  return 0;
}

std::string_view name_of(CallKind kind) {
  switch (kind) {
    case CallKind::alloc:
      return "alloc";
    case CallKind::free:
      return "free";
    case CallKind::reserve:
      return "reserve";
    case CallKind::release:
      return "release";
    case CallKind::create:
      return "create";
    case CallKind::destroy:
      return "destroy";
    case CallKind::map:
      return "map";
    case CallKind::access:
      return "access";
    case CallKind::unmap:
      return "unmap";
    case CallKind::block_alloc:
      return "block_alloc";
    case CallKind::block_free:
      return "block_free";
    case CallKind::synchronise:
      return "synchronise";
    case CallKind::wait:
      return "wait";
    case CallKind::fill:
      return "fill";
    case CallKind::check:
      return "check";
  }
  return {};
}

}  // namespace memreplay
