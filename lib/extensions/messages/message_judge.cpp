#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "core/card.hpp"
#include "core/torch_sizes.hpp"
#include "questions/explain/explained.hpp"

namespace memreplay {
namespace {

/// Nobody can give it back.
constexpr auto kOfContexts = static_cast<std::int64_t>(kContextAndLibraries);

/// A sum of figures, and how far off it may be.
struct FigureBalance {
  std::int64_t bytes = 0;
  std::int64_t within = 0;

  FigureBalance& plus(const RoundedBytes& figure) {
    bytes += static_cast<std::int64_t>(figure.bytes);
    within += static_cast<std::int64_t>(figure.within);
    return *this;
  }
  FigureBalance& minus(const RoundedBytes& figure) {
    bytes -= static_cast<std::int64_t>(figure.bytes);
    within += static_cast<std::int64_t>(figure.within);
    return *this;
  }
  bool sure() const { return std::abs(bytes) >= within; }
};

RoundedBytes or_nothing(const std::optional<RoundedBytes>& figure) {
  return figure.value_or(RoundedBytes{});
}

/// Decides, and remembers whether the roundings could have decided otherwise.
class MessageJudge {
 public:
  explicit MessageJudge(const OomMessage& message) : m_(message) { e_.message = message; }

  ExplainedMessage judged() {
    e_.cause = cause();
    if (e_.cause == Cause::unknown) e_.sure = false;
    return std::move(e_);
  }

 private:
  Cause cause() {
    if (m_.harmless || m_[OomWord::type] == "statistics") return Cause::none;
    if (m_.kind == "bfc") return of_bfc();
    if (m_.kind == "torch") return of_torch();
    return of_others();
  }

  bool has(Figure figure, const char* name) {
    if (!m_[figure]) e_.missing.emplace_back(name);
    return m_[figure].has_value();
  }
  bool at_least_zero(const FigureBalance& balance) {
    e_.sure &= balance.sure();
    return balance.bytes >= 0;
  }

  // What the limit leaves beside what is live and the request.
  FigureBalance left_by(const RoundedBytes& live) const {
    return FigureBalance().plus(*m_[Figure::limit]).minus(live).minus(*m_[Figure::requested]);
  }
  // The request alone is more than the limit.
  bool beyond_any_limit() const {
    if (!m_[Figure::requested] || !m_[Figure::limit]) return false;
    const FigureBalance left = left_by({});
    return left.bytes < 0 && left.sure();
  }

  Cause of_bfc() {
    if (beyond_any_limit()) {
      e_.room = left_by(or_nothing(m_[Figure::live])).bytes;
      return Cause::shortage;
    }
    const bool known = has(Figure::requested, "the size of the request") &
                       has(Figure::limit, "the allocator's limit") &
                       has(Figure::live, "how much of it was in use");
    if (!known) return free_anyway() ? Cause::fragmentation : Cause::unknown;
    // As of a recording, what is left beside what was asked for, not beside the chunks.
    const RoundedBytes& live = *m_[Figure::live];
    e_.room = left_by(m_[Figure::live_requested].value_or(live)).bytes;
    if (!at_least_zero(left_by(live))) return beyond_the_limit();
    if (!m_[Figure::reserved]) {
      e_.sure = false;
      return Cause::fragmentation;
    }
    return at_least_zero(left_by(*m_[Figure::reserved])) ? Cause::outside : Cause::fragmentation;
  }

  // Chunks are not always cut to the size of their request.
  Cause beyond_the_limit() {
    if (!m_[Figure::live_requested]) return Cause::shortage;
    const FigureBalance without_waste = left_by(*m_[Figure::live_requested]);
    // Some waste every allocator has: what may just be enough is not.
    return at_least_zero(without_waste) && without_waste.sure() ? Cause::fragmentation
                                                                : Cause::shortage;
  }

  // What is free would do, whatever the limit is.
  bool free_anyway() {
    if (!m_[Figure::requested] || !m_[Figure::free_inside]) return false;
    const FigureBalance room =
        FigureBalance().plus(*m_[Figure::free_inside]).minus(*m_[Figure::requested]);
    if (room.bytes < 0) return false;
    e_.room = room.bytes;
    e_.sure = room.sure();
    return true;
  }

  Cause of_torch() {
    note_holders();
    if (!m_.overflows.empty() && !m_[Figure::requested]) return Cause::unknown;
    if (m_[Figure::segment_reserve]) return Cause::address_space;
    if (beyond_one_block()) return Cause::shortage;
    if (contradicts_itself()) return of_the_whole_device();
    if (sleeps()) return Cause::unknown;
    if (const auto missing = beyond_device()) {
      e_.room = missing->bytes;
      return Cause::shortage;
    }
    const bool known = has(Figure::requested, "the size of the request") &
                       has(Figure::device_free, "how much of the device was free") &
                       has(Figure::live, "how much was allocated") &
                       has(Figure::reserved, "how much was reserved");
    if (!known) return of_the_whole_device();
    const FigureBalance room = FigureBalance()
                                   .plus(*m_[Figure::reserved])
                                   .plus(*m_[Figure::device_free])
                                   .minus(*m_[Figure::live])
                                   .minus(*m_[Figure::requested]);
    e_.room = room.bytes;
    if (held_by_another()) return Cause::outside;
    if (!at_least_zero(room)) return beyond_the_device(room);
    if (m_[Figure::limit]) return under_a_limit();
    const RoundedBytes segment{
        torch::get_allocation_size(m_[Figure::requested]->bytes, torch::kLargeBuffer),
        m_[Figure::requested]->within};
    const FigureBalance device_alone =
        FigureBalance().plus(*m_[Figure::device_free]).minus(segment);
    return at_least_zero(device_alone) ? Cause::unknown : Cause::fragmentation;
  }

  // Where host and device share memory, the two are counted by different sources.
  bool contradicts_itself() {
    if (!m_[Figure::device] || !m_[Figure::device_free]) return false;
    const FigureBalance rest =
        FigureBalance().plus(*m_[Figure::device]).minus(*m_[Figure::device_free]);
    e_.contradicts = rest.bytes < 0 && rest.sure();
    return e_.contradicts;
  }

  // A pool whose memory was given back while its addresses stay: PyTorch counts it as reserved.
  bool sleeps() {
    const bool elsewhere = m_.platform == Platform::windows || m_.platform == Platform::wsl;
    if (elsewhere || !m_[Figure::process] || !m_[Figure::reserved]) return false;
    const FigureBalance held =
        FigureBalance().plus(*m_[Figure::process]).minus(*m_[Figure::reserved]);
    if (held.bytes >= 0 || !held.sure()) return false;
    e_.asleep = static_cast<Bytes>(-held.bytes);
    return true;
  }

  // Some drivers give no block beyond a size, however much is free.
  bool beyond_one_block() {
    if (!m_[Figure::largest_buffer] || !m_[Figure::requested]) return false;
    const FigureBalance room =
        FigureBalance().plus(*m_[Figure::largest_buffer]).minus(*m_[Figure::requested]);
    e_.room = room.bytes;
    return !at_least_zero(room);
  }

  // Who has what the allocator has not reserved: its own process, and others that the message
  // names.
  void note_holders() {
    const auto& reserved = m_[Figure::reserved];
    const auto beyond =
        difference_of(m_[Figure::device], sum_of(reserved, m_[Figure::device_free]));
    if (beyond) e_.others = beyond->bytes;
    auto own = m_[Figure::process];
    const ProcessUse* self = nullptr;
    if (!own && reserved) {
      const bool all_named = names_all_holders();
      for (const ProcessUse& process : m_.processes) {
        const auto outside = static_cast<std::int64_t>(process.held.bytes) -
                             static_cast<std::int64_t>(reserved->bytes);
        const auto within = static_cast<std::int64_t>(process.held.within + reserved->within);
        if (outside + within < 0 || (!all_named && outside > 2 * kOfContexts)) continue;
        if (self == nullptr || process.held.bytes < self->held.bytes) self = &process;
      }
      if (self != nullptr) own = self->held;
    }
    if (const auto outside = difference_of(own, reserved)) e_.own_outside = outside->bytes;
    for (const ProcessUse& process : m_.processes) {
      if (&process == self) continue;
      if (!e_.holder || process.held.bytes > e_.holder->held.bytes) e_.holder = process;
    }
    note_contexts(self);
  }

  // What most of the others hold alike is a context: of the other ranks of the same program.
  void note_contexts(const ProcessUse* self) {
    std::vector<RoundedBytes> small;
    for (const ProcessUse& process : m_.processes) {
      if (&process != self && process.held.bytes < kOfContexts + kOfContexts / 2) {
        small.push_back(process.held);
      }
    }
    if (small.size() < 2) return;
    std::ranges::sort(small, {}, &RoundedBytes::bytes);
    const RoundedBytes middle = small[small.size() / 2];
    AlikeProcesses alike{.each = middle};
    for (const RoundedBytes& held : small) {
      const Bytes apart = std::max(held.bytes, middle.bytes) - std::min(held.bytes, middle.bytes);
      if (apart > middle.bytes / 20 + middle.within) continue;
      ++alike.count;
      alike.all = *sum_of(alike.all, held);
    }
    if (alike.count > 1) e_.contexts = alike;
  }

  // What it names accounts for the device, so that no process is left out.
  bool names_all_holders() const {
    FigureBalance rest = FigureBalance()
                             .plus(or_nothing(m_[Figure::device]))
                             .minus(or_nothing(m_[Figure::device_free]));
    for (const ProcessUse& process : m_.processes) rest.minus(process.held);
    return m_[Figure::device] && m_[Figure::device_free] && rest.bytes < kOfContexts / 2;
  }

  bool held_by_another() const {
    return e_.holder && m_[Figure::device] && e_.holder->held.bytes > m_[Figure::device]->bytes / 2;
  }

  // Drivers of Windows, and of WSL, move memory to the host before they refuse any.
  std::optional<FigureBalance> beyond_device() {
    if (!m_[Figure::device] || !m_[Figure::reserved] || !m_[Figure::live]) return std::nullopt;
    const FigureBalance beyond =
        FigureBalance().plus(*m_[Figure::device]).minus(*m_[Figure::reserved]);
    if (beyond.bytes >= 0 || !beyond.sure()) return std::nullopt;
    e_.beyond_device = true;
    const FigureBalance room = FigureBalance()
                                   .plus(*m_[Figure::device])
                                   .minus(*m_[Figure::live])
                                   .minus(or_nothing(m_[Figure::requested]));
    return room.bytes < 0 ? std::optional(room) : std::nullopt;
  }

  // Too small if it were this allocator's alone: a verdict without the rest.
  Cause of_the_whole_device() {
    if (!m_[Figure::requested] || !m_[Figure::device]) return Cause::unknown;
    const FigureBalance room = FigureBalance()
                                   .plus(*m_[Figure::device])
                                   .minus(or_nothing(m_[Figure::live]))
                                   .minus(*m_[Figure::requested]);
    if (room.bytes >= 0 || !room.sure()) return Cause::unknown;
    e_.room = room.bytes;
    e_.missing.clear();
    return Cause::shortage;
  }

  Cause beyond_the_device(FigureBalance room) {
    if (!e_.others) {
      e_.sure = false;
      return Cause::shortage;
    }
    const FigureBalance without_others{
        room.bytes + static_cast<std::int64_t>(*e_.others) - kOfContexts, room.within};
    return at_least_zero(without_others) ? Cause::outside : Cause::shortage;
  }

  Cause under_a_limit() {
    const FigureBalance room = left_by(*m_[Figure::live]);
    if (room.bytes < *e_.room) e_.room = room.bytes;
    return at_least_zero(room) ? Cause::fragmentation : Cause::limit;
  }

  // What a kind of message is about says most of it.
  Cause of_others() {
    struct Rule {
      std::string_view kind;
      Cause cause;
    };
    static constexpr Rule kRules[] = {
        {"gpu-driver", Cause::none},    {"onnxruntime-arena", Cause::none},
        {"tf-device", Cause::none},     {"host", Cause::shortage},
        {"ggml-start", Cause::none},    {"trtllm", Cause::none},
        {"nvidia-smi", Cause::none},    {"jax-stats", Cause::none},
        {"torch-summary", Cause::none}, {"torch-stats", Cause::none},
        {"torch-printed", Cause::none}, {"megatron", Cause::none},
        {"faiss", Cause::outside},      {"tf-async", Cause::outside},
        {"triton", Cause::shortage},    {"other-pool", Cause::outside},
        {"mlx", Cause::shortage},       {"gpu-error", Cause::outside},
        {"torch-async", Cause::outside}};
    const auto rule = std::ranges::find(kRules, m_.kind, &Rule::kind);
    if (rule != std::end(kRules)) return rule->cause;
    if (m_.kind == "vllm" || m_.kind == "sglang" || m_.kind == "tgi") return of_server();
    const bool lacks = m_[Figure::lacking] && m_[Figure::lacking]->bytes > 0;
    if (lacks) e_.room = -static_cast<std::int64_t>(m_[Figure::lacking]->bytes);
    if (lacks || beyond_any_limit()) return Cause::shortage;
    return Cause::unknown;
  }

  // Servers of models say at their start what is left for the KV cache.
  Cause of_server() const {
    const std::string& type = m_[OomWord::type];
    if (type == "not free") return Cause::outside;
    return !type.empty() || m_[Figure::lacking] || m_[Figure::needed] ? Cause::shortage
                                                                      : Cause::none;
  }

  const OomMessage& m_;
  ExplainedMessage e_;
};

}  // namespace

ExplainedMessage explained(const OomMessage& message) { return MessageJudge(message).judged(); }

}  // namespace memreplay
