#pragma once

// Segments, entries, settings, annotations; included by snapshot_conversion.hpp.

namespace memreplay {

template <class View>
TorchBlock SnapshotConversion<View>::block(const View& value, const Path& at, Address address) {
  if (value.kind() != ValueKind::dict) refuse(value, at, "a block");
  evidence_.block |= keys_of(value, {Word::address});
  TorchBlock block{.address = address};
  optional(value, Word::address, at,
           [&](const View& v, const Path& p) { block.address = handle(v, p); });
  required(value, Word::size, at, "a whole number of bytes",
           [&](const View& v, const Path& p) { block.size = bytes(v, p); });
  block.requested = block.size;
  bool has_requested = optional(value, Word::requested_size, at, [&](const View& v, const Path& p) {
    block.requested = bytes(v, p);
  });
  bool has_frames = optional(value, Word::frames, at,
                             [&](const View& v, const Path& p) { block.stack = stack(v, p); });
  // PyTorch 2.0: the newest life of the block comes first.
  optional(value, Word::history, at, [&](const View& lives, const Path& p) {
    if (list_size(lives, p) == 0) return;
    const View newest = lives.item(0);
    const Path first{&p, {}, 0};
    if (newest.kind() != ValueKind::dict) refuse(newest, first, "a dict");
    if (!has_requested) {
      optional(newest, Word::real_size, first,
               [&](const View& v, const Path& q) { block.requested = bytes(v, q); });
    }
    if (!has_frames) {
      optional(newest, Word::frames, first,
               [&](const View& v, const Path& q) { block.stack = stack(v, q); });
    }
  });
  constexpr std::string_view kStates = "active_allocated, active_pending_free or inactive";
  required(value, Word::state, at, kStates, [&](const View& v, const Path& p) {
    auto&& name = text(v, p);
    switch (word_of(name)) {
      case Word::active_allocated:
        block.state = BlockState::allocated;
        break;
      case Word::active_pending_free:
      case Word::active_awaiting_free:
        block.state = BlockState::pending;
        break;
      case Word::inactive:
        block.state = BlockState::free;
        break;
      default:
        refuse(v, p, kStates);
    }
  });
  return block;
}

template <class View>
TorchSegment SnapshotConversion<View>::segment(const View& value, const Path& at) {
  if (value.kind() != ValueKind::dict) refuse(value, at, "a segment");
  evidence_.segment |= keys_of(value, {Word::segment_pool_id});
  TorchSegment segment;
  optional(value, Word::device, at, [&](const View& v, const Path& p) {
    const std::int64_t device = signed_number(v, p);
    if (device < -1 || device > INT16_MAX) refuse(v, p, "a device number");
    segment.device = static_cast<int>(device);
  });
  required(value, Word::address, at, "an address",
           [&](const View& v, const Path& p) { segment.address = handle(v, p); });
  required(value, Word::total_size, at, "a whole number of bytes",
           [&](const View& v, const Path& p) { segment.size = bytes(v, p); });
  optional(value, Word::stream, at,
           [&](const View& v, const Path& p) { segment.stream = handle(v, p); });
  optional(value, Word::segment_type, at, [&](const View& v, const Path& p) {
    segment.small_pool = word_of(text(v, p)) == Word::small;
  });
  optional(value, Word::is_expandable, at,
           [&](const View& v, const Path& p) { segment.expandable = truth(v, p); });
  if (!optional(value, Word::segment_pool_id, at,
                [&](const View& v, const Path& p) { segment.pool = pool(v, p); })) {
    segment.pool = texts_.pool({});
  }
  required(value, Word::blocks, at, "a list", [&](const View& blocks, const Path& p) {
    const std::size_t blocks_size = list_size(blocks, p);
    count(blocks_size, p);
    segment.blocks.reserve(blocks_size);
    Address next = segment.address;
    for (std::size_t i = 0; i < blocks_size; ++i) {
      segment.blocks.push_back(block(blocks.item(i), Path{&p, {}, i}, next));
      next = segment.blocks.back().address + segment.blocks.back().size;
    }
  });
  return segment;
}

template <class View>
void SnapshotConversion<View>::segments(const View& value, const Path& at) {
  const std::size_t size = list_size(value, at);
  count(size, at);
  snapshot_.segments.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    snapshot_.segments.push_back(segment(value.item(i), Path{&at, {}, i}));
  }
}

template <class View>
std::optional<TorchEntry> SnapshotConversion<View>::entry(const View& value, const Path& at) {
  if constexpr (requires { value.ready_entry(); }) {
    if (const TorchEntry* ready = value.ready_entry()) return *ready;
  }
  if (value.kind() != ValueKind::dict) refuse(value, at, "a trace entry");
  std::uint64_t keys =
      keys_of(value, {Word::time_us, Word::compile_context, Word::user_metadata, Word::pool_id,
                      Word::internal_metadata, Word::forward_frames});
  TorchEntry entry;
  std::string unknown;
  required(value, Word::action, at, "the name of an action", [&](const View& v, const Path& p) {
    auto&& name = text(v, p);
    const Word word = word_of(name);
    if (word >= Word::alloc && word <= Word::annotate) {
      entry.action =
          static_cast<TorchAction>(static_cast<int>(word) - static_cast<int>(Word::alloc));
    } else {
      unknown = name.empty() ? "?" : std::string(name);
    }
  });
  if (entry.action == TorchAction::other) {
    // Through the table of texts, for its care of bytes that are no UTF-8.
    ++snapshot_.unknown_actions[as_utf8(unknown)];
    evidence_.entry |= keys;
    return std::nullopt;
  }
  const bool oom = entry.action == TorchAction::oom;
  const bool has_address =
      optional(value, oom ? Word::device_free : Word::addr, at,
               [&](const View& v, const Path& p) { entry.address = handle(v, p); });
  if (!has_address && !oom) refuse_missing(file_, {&at, text_of(Word::addr)}, "an address");
  required(value, Word::size, at, "a whole number of bytes",
           [&](const View& v, const Path& p) { entry.size = bytes(v, p); });
  optional(value, Word::stream, at,
           [&](const View& v, const Path& p) { entry.stream = handle(v, p); });
  optional(value, Word::time_us, at,
           [&](const View& v, const Path& p) { entry.time_us = signed_number(v, p); });
  optional(value, Word::user_metadata, at,
           [&](const View& v, const Path& p) { entry.tag = texts_.text(text(v, p)); });
  optional(value, Word::pool_id, at,
           [&](const View& v, const Path& p) { entry.pool = pool(v, p); });
  optional(value, Word::frames, at,
           [&](const View& v, const Path& p) { entry.stack = stack(v, p); });
  evidence_.entry |= evidence_in(keys, entry.action);
  return entry;
}

template <class View>
void SnapshotConversion<View>::entries(const View& value, const Path& at, bool last) {
  const std::size_t size = list_size(value, at);
  count(size, at);
  snapshot_.entry_counts.push_back(size);
  auto& trace = snapshot_.device_traces.emplace_back();
  if constexpr (requires { value.take_ready_entries(trace); }) {
    if (last && value.take_ready_entries(trace)) return;
  }
  trace.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    if (const auto converted = entry(value.item(i), Path{&at, {}, i})) trace.push_back(*converted);
  }
}

template <class View>
void SnapshotConversion<View>::settings(const View& value, const Path& at) {
  if (value.kind() == ValueKind::none) return;
  if (value.kind() != ValueKind::dict) refuse(value, at, "a dict");
  evidence_.settings |=
      keys_of(value, {Word::max_round_threshold, Word::graph_capture_record_stream_reuse});
  RecordedSettings& settings = snapshot_.settings;
  settings.present = true;
  for (const Word variable :
       {Word::conf, Word::conf_of_any, Word::conf_of_hip, Word::conf_of_npu, Word::conf_of_xpu}) {
    optional(value, variable, at, [&](const View& v, const Path& p) {
      if (v.kind() != ValueKind::none) settings.conf = as_utf8(text(v, p));
      settings.conf_variable = text_of(variable);
    });
  }
  optional(value, Word::max_split_size, at,
           [&](const View& v, const Path& p) { settings.max_split_size = signed_number(v, p); });
  optional(value, Word::garbage_collection_threshold, at, [&](const View& v, const Path& p) {
    settings.garbage_collection_threshold = real(v, p);
  });
  optional(value, Word::expandable_segments, at,
           [&](const View& v, const Path& p) { settings.expandable_segments = truth(v, p); });
  if (const auto entries = value.find(std::string_view("trace_alloc_max_entries"))) {
    snapshot_.max_entries =
        number(*entries, Path{&at, "trace_alloc_max_entries"}, "a number of entries");
  }
  optional(value, Word::roundup_power2_divisions, at, [&](const View& table, const Path& p) {
    if (table.kind() != ValueKind::dict) refuse(table, p, "a dict");
    auto& divisions = settings.roundup_power2_divisions.emplace();
    for (std::size_t i = 0; i < divisions.size(); ++i) {
      const std::string key = std::to_string(1u << i);
      const std::optional<View> v = table.find(std::string_view(key));
      if (!v) continue;
      const std::uint64_t division = number(*v, Path{&p, key}, "a number of divisions");
      if (division > UINT32_MAX) refuse(*v, Path{&p, key}, "a number of divisions");
      divisions[i] = static_cast<std::uint32_t>(division);
    }
  });
}

template <class View>
void SnapshotConversion<View>::annotations(const View& value, const Path& at) {
  const std::size_t size = list_size(value, at);
  count(size, at);
  for (std::size_t i = 0; i < size; ++i) {
    const View item = value.item(i);
    const Path here{&at, {}, i};
    if (item.kind() != ValueKind::dict) refuse(item, here, "an annotation");
    Annotation annotation;
    Word stage = Word::none;
    required(item, Word::stage, here, "START or END",
             [&](const View& v, const Path& p) { stage = word_of(text(v, p)); });
    if (stage != Word::start && stage != Word::end) continue;
    annotation.begins = stage == Word::start;
    optional(item, Word::name, here,
             [&](const View& v, const Path& p) { annotation.text = texts_.text(text(v, p)); });
    optional(item, Word::device, here, [&](const View& v, const Path& p) {
      const std::int64_t device = signed_number(v, p);
      if (device < -1 || device > INT16_MAX) refuse(v, p, "a device number");
      annotation.gpu = static_cast<int>(device);
    });
    optional(item, Word::time_us, here,
             [&](const View& v, const Path& p) { annotation.time_us = signed_number(v, p); });
    snapshot_.annotations.push_back(annotation);
  }
}

template <class View>
TorchSnapshot SnapshotConversion<View>::convert(const View& root) {
  constexpr std::string_view kExpected = "expected a dict with segments and device_traces";
  if (root.kind() == ValueKind::list) {
    if (root.size() > 0) {
      const View first = root.item(0);
      if (first.kind() != ValueKind::dict || !first.find(Word::total_size)) {
        refuse_snapshot(file_, "a list whose first item is no segment; " + std::string(kExpected));
      }
    }
    segments(root, {nullptr, "segments"});
  } else if (root.kind() == ValueKind::dict &&
             keys_of(root, {Word::segments, Word::device_traces}) != 0) {
    evidence_.top =
        keys_of(root, {Word::device_traces, Word::allocator_settings, Word::external_annotations,
                       Word::host_segments, Word::host_traces});
    const auto part = [&](Word key, auto&& read) {
      const std::optional<View> value = root.find(key);
      if (value) read(*value, Path{nullptr, text_of(key)});
      return value.has_value();
    };
    if (host_) {
      part(Word::host_segments, [&](const View& v, const Path& p) { segments(v, p); });
      snapshot_.has_traces =
          part(Word::host_traces, [&](const View& v, const Path& p) { entries(v, p, true); });
    } else {
      part(Word::segments, [&](const View& v, const Path& p) { segments(v, p); });
      snapshot_.has_traces = part(Word::device_traces, [&](const View& v, const Path& p) {
        const std::size_t devices = list_size(v, p);
        count(devices, p);
        for (std::size_t i = 0; i < devices; ++i) {
          entries(v.item(i), Path{&p, {}, i}, i + 1 == devices);
        }
      });
      part(Word::host_traces,
           [&](const View& v, const Path& p) { snapshot_.host_entries = list_size(v, p); });
    }
    part(Word::allocator_settings, [&](const View& v, const Path& p) { settings(v, p); });
    part(Word::external_annotations, [&](const View& v, const Path& p) { annotations(v, p); });
  } else {
    refuse_snapshot(file_, "the top level is " + std::string(describe(root.kind())) +
                               (root.kind() == ValueKind::dict ? " without these keys; " : "; ") +
                               std::string(kExpected));
  }
  if constexpr (requires { root.ready_entry_words(); }) {
    evidence_.entry |= root.ready_entry_words();
  }
  snapshot_.settings.oldest_release = oldest_release(evidence_);
  for (const auto& trace : snapshot_.device_traces) {
    snapshot_.has_times |= std::ranges::any_of(trace, [](const auto& e) { return e.time_us != 0; });
    snapshot_.has_entry_pools |=
        std::ranges::any_of(trace, [](const auto& e) { return e.pool != kUnknownPool; });
  }
  texts_.finish(snapshot_);
  return std::move(snapshot_);
}

}  // namespace memreplay
