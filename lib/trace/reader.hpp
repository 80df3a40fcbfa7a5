#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event_sink.hpp"
#include "trace/trace.hpp"
#include "trace/value_writer.hpp"

namespace memreplay {

class Unpacking;
struct StatedBuffer;

/// A file's bytes after decompression.
struct Input {
  std::string name;  ///< for messages; "-" is standard input
  std::string_view bytes;
  Unpacking* arrival = nullptr;  ///< set where not all bytes are at hand yet, else null
  bool host = false;             ///< take a snapshot's pinned host memory, not its devices
  bool mapped = false;  ///< a file's pages: those already read may be dropped, they come back
  /// Called now and then with the share that has been read; may be empty.
  std::function<void(double)> progress = {};
  /// Gives the bytes back where a reader needs them no more; may be empty.
  std::function<void()> release = {};
};

/// How a file is to be read.
struct ReadOptions {
  std::string format;          ///< a registered name; empty: recognise it
  bool python_reader = false;  ///< unpickle with CPython instead of our own reader
  std::string columns;         ///< columns of a CSV that are named by hand: "id=ptr,size=bytes"
  std::string process;  ///< which of several in a log: its name there, or "all"; empty: the first
  std::string buffer_assignment;  ///< XLA's text beside its live ranges; empty: of the same name
  /// A trace of more events may be left in its file (Trace::streamed), by who can do with that.
  std::uint64_t most_in_memory = UINT64_MAX;
  /// Events may be counted and not kept (Trace::streamed, not to be opened), where a reader can:
  /// quicker, and in the memory that one block of them needs.
  bool counted = false;
  bool host = false;         ///< read a snapshot's pinned host memory, device -1, instead
  bool takes_texts = false;  ///< also what somebody pasted (Recording::text)
  /// For who has recordings without a file: the one called `path`, unset where that is a file.
  /// Any thread may ask. May be empty.
  std::function<std::optional<Recording>(const std::string& path)> at_hand = {};
  /// Told what a reader left out, or had to take for something: "FILE: column …". May be null.
  std::function<void(const std::string&)> note;
  /// Called now and then with the share of a file that has been read; may be empty.
  std::function<void(const std::string& path, double share)> progress = {};
};

/// A column of a format that has a header.
struct ColumnInfo {
  std::string_view name;
  std::string_view aliases;  ///< "alloc, malloc": other names, the likeliest first
  std::string_view meaning;  ///< one sentence
};

/// For who takes the events. Called again where a reader begins anew: what came before is void.
using BeginEvents = std::function<EventSink&()>;

/// A format, as it registers itself (readers.def).
struct ReaderInfo {
  std::string_view name;
  std::string_view summary;  ///< one sentence
  bool (*recognises)(const Input&);
  /// Throws InputError; never returns a half-read recording.
  Recording (*read)(const Input&, const ReadOptions&);
  /// Hands on the content as it is, also what no reader looks at; null where it has no form that a
  /// ValueWriter takes. Throws InputError.
  void (*copy)(const Input&, ValueWriter&) = nullptr;
  /// As `read`, with traces of no events: they are handed on as they are read, unless the file must
  /// be read whole, after all. Null where all files of the format must.
  Recording (*hand_on)(const Input&, const ReadOptions&, const BeginEvents& begin) = nullptr;
  /// Hands on the events as they are read, and then the recording, to a sink that `begin` returns
  /// (called once). False, before `begin` is called, where the file must be read whole; null as
  /// above. Throws InputError.
  bool (*stream)(const Input&, const ReadOptions&, const BeginEvents& begin) = nullptr;
  /// The buffers of a file of lifetimes, which its events do not tell all of; null: it has none.
  std::vector<StatedBuffer> (*stated)(const Input&, const ReadOptions&) = nullptr;
  std::span<const ColumnInfo> columns = {};  ///< empty: no header names them
  /// Reads, and recognises, bytes as they arrive (Input::arrival); else they are all at hand.
  bool reads_arriving = false;
  bool is_text = false;        ///< messages, no recording: only for who takes those
  bool has_processes = false;  ///< a file may be the log of several
};

/// Every registered reader, in the order in which detection asks them.
std::span<const ReaderInfo> readers();

/// Whether some reader takes a file, by how it begins. What is compressed, or cannot be opened, is
/// not looked into: true, so that reading it tells.
bool seems_a_recording(const std::string& path);

/// Opens, decompresses (gzip and zstd by their first bytes), recognises and reads. "-" is standard
/// input. Throws InputError with file and place, UsageError for an unknown format.
Recording read_recording(const std::string& path, const ReadOptions& options = {});
/// Reads a file's bytes that are in memory, under a name for messages.
Recording read_recording(const std::string& name, std::string_view bytes,
                         const ReadOptions& options);

/// Hands a recording's events on as they are read, so that they need not fit into memory; checked
/// like those of `read_recording`, and throws what that throws. False, before `begin` is called,
/// where it must be read whole, or is not worth it.
bool stream_recording(const std::string& path, const ReadOptions& options,
                      const BeginEvents& begin);

/// Writes the content of a PyTorch snapshot as it is. Throws what read_recording does, UsageError
/// for other formats.
void copy_recording(const std::string& path, const ReadOptions& options, ValueWriter& writer);

}  // namespace memreplay
