#include "extensions/calibrate/answer.hpp"

#include <algorithm>

#include "core/control.hpp"
#include "device/real/real_memory.hpp"

namespace memreplay {
namespace {

constexpr Bytes kSmallest = 4 * kKiB;
/// Pieces above this size no strategy maps.
constexpr Bytes kLargestPiece = 64 * kMiB;
constexpr Bytes kWorkBytes = 256 * kMiB;
constexpr std::uint64_t kMostFills = 10'000;

template <typename Call>
std::uint64_t ns_of(const Call& call) {
  const auto began = std::chrono::steady_clock::now();
  call();
  const auto took = std::chrono::steady_clock::now() - began;
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(took).count());
}

class DriverBench {
 public:
  DriverBench(RealMemory& memory, const CalibrateQuestion& question, const Control& control)
      : memory_(memory), question_(question), control_(control), room_(memory.free_bytes() / 2) {}

  // Everything was given back before, unless a call failed: that is heard, and these are not.
  ~DriverBench() {
    try {
      memory_.execution().synchronise();
      give_back_pieces(nullptr);
      give_back_regions(nullptr);
    } catch (const DeviceError&) {
    }
  }
  DriverBench(const DriverBench&) = delete;
  DriverBench& operator=(const DriverBench&) = delete;

  Calibration run() {
    const Bytes granularity = memory_.facts().granularity;
    const Bytes largest = std::min(question_.largest, room_);
    std::vector<Bytes> sizes;
    for (Bytes size = std::min(kSmallest, granularity); size <= largest;) {
      sizes.push_back(size);
      size = size < granularity ? std::min(4 * size, granularity) : 2 * size;
    }
    const Bytes largest_piece = memory_.facts().has_virtual_memory ? kLargestPiece : 0;
    for (std::size_t i = 0; i < sizes.size() && result_.finished; ++i) {
      measure_regions(sizes[i]);
      if (sizes[i] % granularity == 0 && sizes[i] <= largest_piece) measure_pieces(sizes[i]);
      control_.show("measuring", static_cast<double>(i + 1) / static_cast<double>(sizes.size()));
    }
    if (result_.finished) find_out_who_waits();
    return std::move(result_);
  }

 private:
  std::uint64_t at_once(Bytes size) const {
    return std::clamp<std::uint64_t>(room_ / size, 1, question_.repeats);
  }

  bool stopped() {
    if (control_.stopped()) result_.finished = false;
    return !result_.finished;
  }

  void measure_regions(Bytes size) {
    SizedTimes allocs{size, {}};
    SizedTimes frees{size, {}};
    while (allocs.times.count() < question_.repeats && !stopped()) {
      for (std::uint64_t i = 0; i < at_once(size); ++i) {
        if (!allocate(size, &allocs.times)) break;
      }
      if (regions_.empty()) break;
      give_back_regions(&frees.times);
    }
    keep(result_.alloc, allocs);
    keep(result_.free, frees);
  }

  void measure_pieces(Bytes size) {
    SizedTimes maps{size, {}};
    SizedTimes unmaps{size, {}};
    if (!reserve(size)) return;
    while (maps.times.count() < question_.repeats && !stopped()) {
      for (std::uint64_t i = 0; i < at_once(size); ++i) {
        if (!map(&maps.times)) break;
      }
      if (pieces_.empty()) break;
      unmap_pieces(&unmaps.times);
    }
    give_back_pieces(&unmaps.times);
    keep(result_.map, maps);
    keep(result_.unmap, unmaps);
  }

  static void keep(CalibratedCall& call, const SizedTimes& measured) {
    if (measured.times.count() != 0) call.sizes.push_back(measured);
  }

  bool allocate(Bytes size, Durations* times) {
    std::optional<Address> region;
    const std::uint64_t ns = ns_of([&] { region = memory_.allocate(size); });
    if (!region) return false;
    regions_.push_back(*region);
    if (times) times->add(ns);
    return true;
  }

  void give_back_regions(Durations* times) {
    for (; !regions_.empty(); regions_.pop_back()) {
      const std::uint64_t ns = ns_of([&] { memory_.free(regions_.back()); });
      if (times) times->add(ns);
    }
  }

  bool reserve(Bytes piece_size) {
    piece_size_ = piece_size;
    range_size_ = piece_size * at_once(piece_size);
    range_ = memory_.reserve(range_size_);
    return range_.has_value();
  }

  /// The next piece of the range.
  bool map(Durations* times) {
    std::optional<RealMemory::Piece> piece;
    const Address at = *range_ + pieces_.size() * piece_size_;
    std::uint64_t ns = ns_of([&] { piece = memory_.create(piece_size_); });
    if (!piece) return false;
    loose_ = piece;
    bool granted = false;
    ns += ns_of([&] { granted = memory_.map(at, piece_size_, *piece); });
    if (!granted) return false;
    loose_.reset();
    pieces_.push_back(*piece);
    ns += ns_of([&] { granted = memory_.set_access(at, piece_size_); });
    if (granted && times) times->add(ns);
    return granted;
  }

  void unmap_pieces(Durations* times) {
    while (!pieces_.empty()) {
      const Address at = *range_ + (pieces_.size() - 1) * piece_size_;
      std::uint64_t ns = ns_of([&] { memory_.unmap(at, piece_size_); });
      loose_ = pieces_.back();
      pieces_.pop_back();
      ns += ns_of([&] { memory_.destroy(*loose_); });
      loose_.reset();
      if (times) times->add(ns);
    }
  }

  void give_back_pieces(Durations* times) {
    if (range_) unmap_pieces(times);
    if (loose_) memory_.destroy(*std::exchange(loose_, std::nullopt));
    if (range_) memory_.release(*range_, range_size_);
    range_.reset();
  }

  // A call that returns while the work goes on does not wait for it.
  void find_out_who_waits() {
    Execution& work = memory_.execution();
    const Bytes granularity = memory_.facts().granularity;
    const Bytes size = std::max(granularity, std::min(kWorkBytes, room_ / 2));
    if (!allocate(size, nullptr)) return;
    work.prepare();
    const RealRange range{regions_.front(), size};
    const auto fill = [&] { work.fill(0, range, 1, Touch::all); };
    fill();
    work.synchronise();
    const std::uint64_t ns = ns_of([&] {
      fill();
      work.synchronise();
    });
    const auto wanted =
        static_cast<std::uint64_t>(std::chrono::nanoseconds(question_.work).count());
    const std::uint64_t fills = std::min(kMostFills, wanted / std::max<std::uint64_t>(ns, 1) + 1);
    const auto waits = [&](const auto& call) -> std::optional<bool> {
      for (std::uint64_t i = 0; i < fills; ++i) fill();
      const Execution::Point done = work.record(0);
      const bool too_soon = work.reached(done);
      call();
      const bool waited = work.reached(done);
      work.synchronise();
      work.forget(done);
      return too_soon ? std::nullopt : std::optional<bool>(waited);
    };
    result_.alloc.waits = waits([&] { allocate(granularity, nullptr); });
    result_.free.waits = waits([&] {
      if (regions_.size() < 2) return;
      memory_.free(regions_.back());
      regions_.pop_back();
    });
    if (memory_.facts().has_virtual_memory && reserve(granularity)) {
      result_.map.waits = waits([&] { map(nullptr); });
      result_.unmap.waits = waits([&] { unmap_pieces(nullptr); });
    }
    give_back_pieces(nullptr);
    give_back_regions(nullptr);
  }

  RealMemory& memory_;
  const CalibrateQuestion& question_;
  const Control& control_;
  Bytes room_;
  std::vector<Address> regions_;
  std::optional<Address> range_;
  Bytes range_size_ = 0;
  Bytes piece_size_ = 0;
  std::vector<RealMemory::Piece> pieces_;  ///< mapped side by side from the start of the range
  std::optional<RealMemory::Piece> loose_;
  Calibration result_;
};

}  // namespace

CalibrateAnswer answer(RealMemory& memory, const CalibrateQuestion& question,
                       const Control& control) {
  return {memory.facts(), DriverBench(memory, question, control).run()};
}

}  // namespace memreplay
