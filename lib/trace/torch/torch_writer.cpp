#include "trace/torch/torch_writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "core/address_table.hpp"
#include "trace/snapshot/snapshot_words.hpp"
#include "trace/snapshot/torch_snapshot.hpp"

namespace memreplay {
namespace {

using ObjectId = ValueWriter::ObjectId;

// Names of the objects that stand in several places.
constexpr ObjectId kStacks = 0;
constexpr ObjectId kFrames = ObjectId{1} << 32;
constexpr ObjectId kPools = ObjectId{2} << 32;

constexpr int kRecentMinor = 15;

int minor_release(const std::string& release) {
  const std::size_t point = release.find('.');
  int minor = kRecentMinor;
  if (point != std::string::npos) {
    std::from_chars(release.data() + point + 1, release.data() + release.size(), minor);
  }
  return minor;
}

/// What a configuration string says of an option that no field of its own states.
std::string_view conf_value(std::string_view conf, std::string_view key,
                            std::string_view default_value) {
  const std::size_t at = conf.rfind(std::string(key) + ":");
  if (at == conf.npos) return default_value;
  const std::string_view rest = conf.substr(at + key.size() + 1);
  return rest.substr(0, rest.find(','));
}

std::string_view action_of(Op op) {
  switch (op) {
    case Op::allocate:
      return text_of(Word::alloc);
    case Op::free_requested:
      return text_of(Word::free_requested);
    case Op::free:
    case Op::free_completed:
      return text_of(Word::free_completed);
    case Op::oom:
      return text_of(Word::oom);
    default:
      return driver_name(op);
  }
}

std::string_view state_of(BlockState state) {
  constexpr std::array kStates = {Word::active_allocated, Word::active_pending_free,
                                  Word::inactive};
  return text_of(kStates.at(static_cast<std::size_t>(state)));
}

class SnapshotWriter {
 public:
  SnapshotWriter(const Recording& recording, ValueWriter& writer)
      : recording_(recording),
        out_(writer),
        minor_(minor_release(recording.settings.oldest_release)) {}

  void write() {
    out_.open(Container::dict);
    key(Word::segments);
    out_.open(Container::list);
    for (const Trace& trace : recording_.traces) {
      for (const SegmentInfo& segment : trace.end.segments) write_segment(trace, segment);
    }
    out_.close();
    key(Word::device_traces);
    out_.open(Container::list);
    int device = 0;
    for (const Trace& trace : recording_.traces) {
      for (; device < trace.gpu; ++device) write_empty_list();
      write_entries(trace);
      ++device;
    }
    out_.close();
    if (recording_.settings.present) write_settings();
    if (has(5)) write_annotations();
    if (has(14)) {
      for (const Word host : {Word::host_segments, Word::host_traces}) {
        key(host);
        write_empty_list();
      }
    }
    out_.close();
    out_.finish();
  }

 private:
  bool has(int since_minor) const { return minor_ >= since_minor; }
  void key(Word word) { out_.scalar(text_of(word)); }
  void field(Word word, const PlainScalar& value) {
    key(word);
    out_.scalar(value);
  }
  void write_empty_list() {
    out_.open(Container::list);
    out_.close();
  }

  void write_pool(PoolId pool) {
    const ObjectId id = kPools + (pool.first << 32) + pool.second;
    const bool can_be_named = pool.first < (1U << 28) && pool.second <= UINT32_MAX;
    if (can_be_named && out_.recall(id)) return;
    out_.open(Container::tuple, can_be_named ? std::optional(id) : std::nullopt);
    out_.scalar(pool.first);
    out_.scalar(pool.second);
    out_.close();
  }

  void write_stack(std::uint32_t stack) {
    if (out_.recall(kStacks + stack)) return;
    out_.open(Container::list, kStacks + stack);
    for (const std::uint32_t frame : recording_.stacks[stack]) write_frame(frame);
    out_.close();
  }

  void write_frame(std::uint32_t number) {
    if (out_.recall(kFrames + number)) return;
    const Frame& frame = recording_.frames[number];
    out_.open(Container::dict, kFrames + number);
    field(Word::name, recording_.texts[frame.name]);
    field(Word::filename, recording_.texts[frame.file]);
    field(Word::line, frame.line == kNoLine ? kNoLineWritten : std::uint64_t{frame.line});
    out_.close();
  }

  void write_segment(const Trace& trace, const SegmentInfo& segment) {
    Bytes allocated = 0, active = 0, requested = 0;
    for (const BlockInfo& block : segment.blocks) {
      if (block.state == BlockState::free) continue;
      if (block.state == BlockState::allocated) allocated += block.size;
      active += block.size;
      requested += block.requested;
    }
    out_.open(Container::dict);
    field(Word::device, std::int64_t{trace.gpu});
    field(Word::address, segment.address);
    field(Word::total_size, segment.size);
    out_.scalar(std::string_view("allocated_size"));
    out_.scalar(allocated);
    out_.scalar(std::string_view("active_size"));
    out_.scalar(active);
    field(Word::requested_size, requested);
    field(Word::stream, trace.streams[segment.stream]);
    field(Word::segment_type,
          segment.small_pool ? text_of(Word::small) : std::string_view("large"));
    if (has(1)) {
      key(Word::segment_pool_id);
      write_pool(trace.pools[segment.pool]);
      field(Word::is_expandable, segment.expandable);
      key(Word::frames);
      write_stack(0);
    }
    key(Word::blocks);
    out_.open(Container::list);
    for (const BlockInfo& block : segment.blocks) {
      out_.open(Container::dict);
      if (has(1)) field(Word::address, block.address);
      field(Word::size, block.size);
      field(Word::requested_size, block.requested);
      field(Word::state, state_of(block.state));
      key(Word::frames);
      write_stack(block.stack);
      out_.close();
    }
    out_.close();
    out_.close();
  }

  void write_entries(const Trace& trace) {
    live_ = {};
    for (const SegmentInfo& segment : trace.start.segments) {
      for (const BlockInfo& block : segment.blocks) {
        if (block.state != BlockState::free) *live_.emplace(block.address).first = block.requested;
      }
    }
    // A free that is requested and completed at once stands for a lost entry where the two are
    // told apart; the reader finds it again.
    const bool whole_frees =
        std::ranges::none_of(trace.ops, [](Op op) { return op == Op::free_completed; });
    out_.open(Container::list);
    for (std::size_t event = 0; event < trace.size(); ++event) {
      if (trace.ops[event] == Op::free && !whole_frees) continue;
      if (trace.ops[event] == Op::empty_cache || trace.ops[event] == Op::safe_frontier) continue;
      write_entry(trace, event);
    }
    out_.close();
  }

  void write_entry(const Trace& trace, std::size_t event) {
    const Op op = trace.ops[event];
    const Address address = trace.addresses[event];
    const StreamPool lane = trace.lane(event);
    const std::uint32_t stack = trace.stacks.empty() ? 0 : trace.stacks[event];
    const std::uint32_t tag = trace.tags.empty() ? 0 : trace.tags[event];
    Bytes size = trace.sizes[event];
    if (op == Op::oom) size += recording_.settings.request_padding;
    if (op == Op::allocate) *live_.emplace(address).first = size;
    const bool frees = op == Op::free || op == Op::free_completed;
    if (frees && live_.find(address) != nullptr) live_.erase(address);

    out_.open(Container::dict);
    if (op == Op::marker) {
      const Bytes* annotated = live_.find(address);
      size = annotated != nullptr ? *annotated : 0;
      field(Word::action, text_of(address != 0 ? Word::annotate : Word::snapshot));
    } else {
      field(Word::action, action_of(op));
    }
    field(op == Op::oom ? Word::device_free : Word::addr, address);
    field(Word::size, size);
    field(Word::stream, trace.streams[lane.stream]);
    if (has(2)) field(Word::time_us, trace.times_us.empty() ? 0 : trace.times_us[event]);
    if (has(8)) field(Word::compile_context, std::string_view("N/A"));
    if (has(10)) field(Word::user_metadata, recording_.texts[tag]);
    if (has(12)) {
      key(Word::pool_id);
      write_pool(trace.pools[lane.pool]);
    }
    if (stack != 0) {
      key(Word::frames);
      write_stack(stack);
    }
    out_.close();
  }

  void write_settings() {
    const RecordedSettings& settings = recording_.settings;
    const auto number_of = [&](std::string_view name) {
      const std::string_view value = conf_value(settings.conf, name, {});
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
      return error == std::errc{} ? std::optional(number) : std::nullopt;
    };
    const auto flag = [&](std::string_view name) {
      out_.scalar(name);
      out_.scalar(conf_value(settings.conf, name, "False") == "True");
    };
    const auto host_limit = [&](std::string_view name, std::string_view option) {
      constexpr auto kMebibyte = static_cast<std::int64_t>(kMiB);
      const auto mebibytes = number_of(option);
      out_.scalar(name);
      out_.scalar(mebibytes ? *mebibytes * kMebibyte : std::int64_t{-1});
    };
    key(Word::allocator_settings);
    out_.open(Container::dict);
    if (!settings.conf_variable.empty()) {
      out_.scalar(std::string_view(settings.conf_variable));
      out_.scalar(std::string_view(settings.conf));
    }
    if (settings.max_split_size) field(Word::max_split_size, *settings.max_split_size);
    if (settings.garbage_collection_threshold) {
      field(Word::garbage_collection_threshold, *settings.garbage_collection_threshold);
    }
    if (settings.expandable_segments) {
      field(Word::expandable_segments, *settings.expandable_segments);
    }
    out_.scalar(std::string_view("pinned_num_register_threads"));
    out_.scalar(number_of("pinned_num_register_threads").value_or(1));
    flag("release_lock_on_cudamalloc");
    flag("pinned_use_cuda_host_register");
    if (has(10)) flag(text_of(Word::graph_capture_record_stream_reuse));
    if (has(13)) {
      host_limit(text_of(Word::max_round_threshold), "pinned_max_round_threshold_mb");
      host_limit("max_cached_size", "pinned_max_cached_size_mb");
    }
    if (settings.roundup_power2_divisions) {
      key(Word::roundup_power2_divisions);
      out_.open(Container::dict);
      for (std::size_t i = 0; i < settings.roundup_power2_divisions->size(); ++i) {
        const std::string bound = std::to_string(1U << i);
        out_.scalar(std::string_view(bound));
        out_.scalar(std::uint64_t{(*settings.roundup_power2_divisions)[i]});
      }
      out_.close();
    }
    out_.close();
  }

  void write_annotations() {
    key(Word::external_annotations);
    out_.open(Container::list);
    for (const Annotation& annotation : recording_.annotations) {
      out_.open(Container::dict);
      field(Word::stage, text_of(annotation.begins ? Word::start : Word::end));
      field(Word::name, recording_.texts[annotation.text]);
      field(Word::device, std::int64_t{annotation.gpu});
      field(Word::time_us, annotation.time_us);
      out_.close();
    }
    out_.close();
  }

  const Recording& recording_;
  ValueWriter& out_;
  int minor_;
  AddressTable<Bytes> live_;  ///< requested
};

}  // namespace

void write_torch_snapshot(const Recording& recording, ValueWriter& writer) {
  SnapshotWriter(recording, writer).write();
}

}  // namespace memreplay
