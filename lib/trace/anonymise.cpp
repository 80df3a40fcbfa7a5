#include "trace/anonymise.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/frame_kind.hpp"

namespace memreplay {
namespace {

constexpr Address kBase = Address{1} << 44;
constexpr Bytes kAlignment = 2 * kMiB;  ///< what a device hands out begins at a multiple of it

bool has_address(Op op) {
  switch (op) {
    case Op::allocate:
    case Op::free:
    case Op::free_requested:
    case Op::free_completed:
      return true;
    default:
      return is_driver_event(op);
  }
}

/// Small numbers for those of the recording, in the same order; 0 stays 0.
class Ranks {
 public:
  void see(std::uint64_t number) {
    if (number != 0) seen_.insert(number);
  }
  void number() {
    std::uint64_t rank = 0;
    for (const std::uint64_t number : seen_) ranks_[number] = ++rank;
  }
  std::uint64_t operator()(std::uint64_t number) const {
    return number == 0 ? 0 : ranks_.at(number);
  }

 private:
  std::set<std::uint64_t> seen_;
  std::map<std::uint64_t, std::uint64_t> ranks_;
};

/// Names of the form word_0, word_1, … for the texts of one kind.
class Names {
 public:
  Names(std::string_view word, std::vector<std::string>& texts) : word_(word), texts_(texts) {}

  /// The text that stands for number `old`; 0, the empty text, stands for itself.
  std::uint32_t operator()(std::uint32_t old) {
    if (old == 0) return 0;
    const auto [place, fresh] = numbers_.try_emplace(old, texts_.size());
    if (fresh) texts_.push_back(numbered(word_, numbers_.size() - 1));
    return static_cast<std::uint32_t>(place->second);
  }

  static std::string numbered(std::string_view word, std::size_t number) {
    return std::string(word) + "_" + std::to_string(number);
  }

 private:
  std::string_view word_;
  std::vector<std::string>& texts_;
  std::map<std::uint32_t, std::size_t> numbers_;
};

/// Frames that say whose code they are, and whether two are of one folder, file or function.
class FrameNames {
 public:
  FrameNames(const std::vector<std::string>& old, std::vector<std::string>& texts)
      : old_(old), texts_(texts) {}

  Frame operator()(const Frame& frame) {
    const FrameKind kind = frame_kind(old_[frame.name], old_[frame.file]);
    return {function(kind, frame.name), file(kind, frame.file), frame.line};
  }

 private:
  using Key = std::pair<std::string, std::uint32_t>;  ///< what is kept of a text, and its number

  std::uint32_t function(FrameKind kind, std::uint32_t name) {
    const auto named = [&](const std::string& before, const std::string& after) {
      return text({before, name}, functions_, before + "function", after);
    };
    switch (kind) {
      case FrameKind::backward:
        return named("torch::autograd::generated::", "::apply");
      case FrameKind::gradient_sums:
        return named("torch::autograd::InputBuffer::", "");
      case FrameKind::engine:
        return named("torch::autograd::Engine::", "");
      case FrameKind::plumbing:
        return named("c10::", "");
      default:
        return named("", "");
    }
  }

  std::uint32_t file(FrameKind kind, std::uint32_t file) {
    const std::string& path = old_[file];
    const std::string folder = path.substr(0, path.find_last_of("/\\") + 1);  // npos + 1 is 0
    const auto named = [&](const std::string& before, const std::string& after) {
      return text({before, file}, files_, before + "file", after);
    };
    switch (kind) {
      case FrameKind::own:
        return named(folder.empty() ? folder : folder_of(folder), ".py");
      case FrameKind::package:
        return named("site-packages/" + folder_of(package_of(path)), ".py");
      case FrameKind::framework:
        return named("site-packages/torch/", ".py");
      case FrameKind::generated:
        return named("torchinductor_/", ".py");
      default:
        return named("", "");
    }
  }

  std::string folder_of(const std::string& old) {
    const std::size_t number = folders_.try_emplace(old, folders_.size()).first->second;
    return Names::numbered("folder", number) + "/";
  }

  /// The text that stands for the one of this key; the empty one stands for itself.
  std::uint32_t text(const Key& key, std::map<Key, std::size_t>& numbers, const std::string& word,
                     const std::string& after) {
    if (key.second == 0) return 0;
    const auto [place, fresh] = numbers.try_emplace(key, texts_.size());
    if (fresh) texts_.push_back(Names::numbered(word, numbers.size() - 1) + after);
    return static_cast<std::uint32_t>(place->second);
  }

  const std::vector<std::string>& old_;
  std::vector<std::string>& texts_;
  std::map<Key, std::size_t> functions_, files_;
  std::map<std::string, std::size_t> folders_;
};

void rename_texts(Recording& recording) {
  std::vector<std::string> texts = {""};
  Names tags("tag", texts), annotations("annotation", texts);
  FrameNames frames(recording.texts, texts);
  for (Frame& frame : recording.frames) frame = frames(frame);
  for (Trace& trace : recording.traces) {
    for (std::uint32_t& tag : trace.tags) tag = tags(tag);
  }
  for (Annotation& annotation : recording.annotations) {
    annotation.text = annotations(annotation.text);
  }
  recording.texts = std::move(texts);
}

void count_times_from_the_first(Recording& recording) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const Trace& trace : recording.traces) {
    for (const std::int64_t time : trace.times_us) first = std::min(first, time);
  }
  for (const Annotation& annotation : recording.annotations) {
    first = std::min(first, annotation.time_us);
  }
  for (Trace& trace : recording.traces) {
    for (std::int64_t& time : trace.times_us) time -= first;
  }
  for (Annotation& annotation : recording.annotations) annotation.time_us -= first;
}

void renumber(Recording& recording) {
  Ranks streams, pool_firsts, pool_seconds, threads;
  for (const Trace& trace : recording.traces) {
    for (const std::uint64_t stream : trace.streams) streams.see(stream);
    for (const PoolId& pool : trace.pools) {
      pool_firsts.see(pool.first);
      pool_seconds.see(pool.second);
    }
    for (const std::uint32_t thread : trace.threads) threads.see(thread);
  }
  for (Ranks* ranks : {&streams, &pool_firsts, &pool_seconds, &threads}) ranks->number();
  for (Trace& trace : recording.traces) {
    for (std::uint64_t& stream : trace.streams) stream = streams(stream);
    for (PoolId& pool : trace.pools) pool = {pool_firsts(pool.first), pool_seconds(pool.second)};
    for (std::uint32_t& thread : trace.threads) {
      thread = static_cast<std::uint32_t>(threads(thread));
    }
    std::map<std::uint64_t, std::uint64_t> ids;
    for (std::uint64_t& id : trace.ids) id = ids.try_emplace(id, ids.size()).first->second;
  }
}

/// Calls `use` with every address of the trace.
template <typename Use>
void each_address(Trace& trace, const Use& use) {
  for (std::size_t i = 0; i < trace.addresses.size(); ++i) {
    const bool annotates = trace.ops[i] == Op::marker && trace.addresses[i] != 0;
    if (has_address(trace.ops[i]) || annotates) use(trace.addresses[i]);
  }
  for (MemoryState* state : {&trace.start, &trace.end}) {
    for (SegmentInfo& segment : state->segments) {
      use(segment.address);
      for (BlockInfo& block : segment.blocks) use(block.address);
    }
  }
}

void shift_addresses(Recording& recording) {
  Address lowest = std::numeric_limits<Address>::max();
  for (Trace& trace : recording.traces) {
    each_address(trace, [&](Address& address) { lowest = std::min(lowest, address); });
  }
  const Address distance = kBase - lowest / kAlignment * kAlignment;
  for (Trace& trace : recording.traces) {
    each_address(trace, [&](Address& address) { address += distance; });
  }
}

void forget_unknown_actions(Coverage& coverage) {
  std::map<std::string, std::uint64_t> kept;
  for (const auto& [reason, count] : coverage.dropped) {
    constexpr std::string_view kUnknown = "entries with the unknown action";
    kept[reason.starts_with(kUnknown) ? "entries with an unknown action" : reason] += count;
  }
  coverage.dropped = std::move(kept);
}

}  // namespace

Recording anonymised(Recording recording, const AnonymiseOptions& options) {
  recording.path.clear();
  if (!options.keep_settings_text) recording.settings.conf.clear();
  rename_texts(recording);
  count_times_from_the_first(recording);
  renumber(recording);
  shift_addresses(recording);
  for (Trace& trace : recording.traces) forget_unknown_actions(trace.coverage);
  return recording;
}

}  // namespace memreplay
