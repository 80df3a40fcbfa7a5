"""Puts the stand-ins of NVIDIA's libraries into this process, before torch asks for them."""
import atexit
import bisect
import collections
import ctypes
import itertools
import json
import os
import re
import shutil
import subprocess
import sys

READS_TOLD = 20
READS_OF_A_LOOP = 10_000
FREED_WITH_IT = 1000  # us: memory whose segment is freed so soon after it was unmapped did not sleep


class Unusable(Exception):
    """This torch cannot run on a virtual GPU; the message says why."""


class MappingChange(ctypes.Structure):
    _fields_ = [("time_ns", ctypes.c_int64), ("address", ctypes.c_uint64), ("size", ctypes.c_uint64),
                ("is_mapped", ctypes.c_uint64)]


class VirtualGpu:
    """The device, with what it has to tell at the end."""

    def __init__(self, program, card=None):
        """`card` is for --virtual-gpu; without it the environment says which one it is. `on_pinned` may be set: called
        before memory is pinned for the first time."""
        self.on_pinned = None
        self._program, self._card = program, card
        self._gpu = None
        self._libraries = []
        self._reads = collections.Counter()
        self._watch = ctypes.CFUNCTYPE(None, ctypes.c_size_t)(self._value_was_read)

    def load(self, torch_folder):
        """Loads what the torch in this folder needs. The sonames are taken then, whatever else is installed."""
        prepared = self._prepare(torch_folder)
        if self._card:
            os.environ["MEMREPLAY_VIRTUAL_GPU"] = prepared["settings"]
        self._gpu = ctypes.CDLL(prepared["implementation"], mode=ctypes.RTLD_GLOBAL)
        self._gpu.memreplay_gpu_refuse_requests.restype = ctypes.c_bool
        self._gpu.memreplay_gpu_told.restype = ctypes.c_size_t
        self._gpu.memreplay_gpu_mapping_changes.restype = ctypes.c_size_t
        self._gpu.memreplay_gpu_runtime(_cuda_version(torch_folder))
        metadata = _metadata(torch_folder)
        self._gpu.memreplay_gpu_libraries(_required_version(metadata, "cudnn"), _required_version(metadata, "nccl"))
        self._gpu.memreplay_gpu_cudnn_folder(os.fsencode(_cudnn_folder(torch_folder)))
        if self.on_pinned:
            self._watch_pinned = ctypes.CFUNCTYPE(None)(self.on_pinned)
            self._gpu.memreplay_gpu_watch_pinned(self._watch_pinned)
        names = sorted(name for name in os.listdir(prepared["stand_ins"]) if not name.startswith("."))
        for name in names:
            path = os.path.join(prepared["stand_ins"], name)
            self._libraries.append(ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL))
        os.environ.setdefault("TRITON_LIBCUDA_PATH", prepared["stand_ins"])  # what Triton builds links with it
        if prepared["temporary"]:
            atexit.register(shutil.rmtree, prepared["temporary"], ignore_errors=True)
        _answer_for(set(names))

    def _prepare(self, torch_folder):
        card = ["--virtual-gpu", self._card] if self._card else []
        made = subprocess.run([self._program, "record", *card, "--prepare", torch_folder],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if made.returncode:
            raise Unusable(made.stderr.strip())
        if made.stderr:
            print(made.stderr.strip(), file=sys.stderr)
        return json.loads(made.stdout)

    def begin(self, _torch):
        """Once CUDA is initialised: refuses what is to be refused, and counts what the program looks at."""
        if not self._gpu.memreplay_gpu_refuse_requests():
            raise Unusable("this torch has another allocator than those known: no request can be refused")
        self._gpu.memreplay_gpu_watch_reads(self._watch)

    def facts(self):
        """What the person is told: a dictionary for JSON."""
        room = 1 << 20
        text = ctypes.create_string_buffer(room)
        size = self._gpu.memreplay_gpu_told(text, ctypes.c_size_t(room))
        facts = json.loads(text.raw[:size])
        facts["reads"] = sum(self._reads.values())
        facts["read_at"] = [{"file": file, "line": line, "function": function, "times": times}
                            for (file, line, function), times in self._reads.most_common(READS_TOLD)]
        facts["neutral_calls"] = dict(sorted(self._neutral_calls()))
        return facts

    def normalise(self, snapshot, real_times):
        """Says where pools slept, and makes times positions unless they are to stay."""
        partly = mark_sleeps(snapshot, self._mapping_changes())
        if partly:
            print(f"memreplay: {partly:,} bytes slept in a pool that was partly awake; replays take it for awake",
                  file=sys.stderr, flush=True)
        if not real_times:
            order_for_time(snapshot)

    def _mapping_changes(self):
        count = self._gpu.memreplay_gpu_mapping_changes(None, ctypes.c_size_t(0))
        changes = (MappingChange * count)()
        self._gpu.memreplay_gpu_mapping_changes(changes, ctypes.c_size_t(count))
        return [(change.time_ns // 1000, change.address, bool(change.is_mapped)) for change in changes]

    def forget_reads(self, _recorder):
        """The interpreter ends: nothing of Python may be called any more."""
        if self._gpu:
            self._gpu.memreplay_gpu_watch_reads(None)
            self._gpu.memreplay_gpu_watch_pinned(None)

    def _value_was_read(self, _size):
        frame = sys._getframe().f_back  # None on a thread that runs no Python, as those of autograd
        while frame and _is_of_a_library(frame.f_code.co_filename):
            frame = frame.f_back
        code = frame.f_code if frame else None
        place = (code.co_filename, frame.f_lineno, code.co_name) if code else ("", 0, "")
        self._reads[place] += 1
        if self._reads[place] == READS_OF_A_LOOP and code:
            print(f"memreplay: {place[0]}:{place[1]} has looked {READS_OF_A_LOOP:,} times at values that were never "
                  "computed; a loop that waits for one does not end", file=sys.stderr, flush=True)

    def _neutral_calls(self):
        """How often each function without an implementation was called."""
        for library in self._libraries:
            count = ctypes.c_uint64.in_dll(library, "memreplay_stand_in_size").value
            names = ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(library, "memreplay_stand_in_names")))
            counts = (ctypes.c_uint64 * count).in_dll(library, "memreplay_stand_in_counts")
            yield from ((name, times) for name, times in zip(names.decode().split("\n"), counts) if times)


def _answer_for(sonames):
    """A library that is asked for by its path, as torch asks for those of NVIDIA's packages, is a stand-in too."""
    load = ctypes.CDLL.__init__

    def load_by_soname(self, name, *arguments, **keywords):
        base = os.path.basename(os.fspath(name)) if name else None
        load(self, base if base in sonames else name, *arguments, **keywords)

    ctypes.CDLL.__init__ = load_by_soname


def order_for_time(snapshot):
    """Times become positions: kernels take no time here, and the same program gives the same file.

    Segments of pinned memory come in the order of a hash table: it becomes that of their addresses.
    """
    snapshot.get("host_segments", []).sort(key=lambda segment: segment["address"])
    lists = [trace for trace in snapshot.get("device_traces", [])]
    lists += [snapshot.get(name, []) for name in ("external_annotations", "host_traces")]
    timed = [entry for entries in lists for entry in entries if "time_us" in entry]
    timed.sort(key=lambda entry: entry["time_us"])
    for position, entry in enumerate(timed):
        entry["time_us"] = position


class Segment:
    """Memory that PyTorch had from an allocator of the program's, from one time to another."""

    def __init__(self, entry, pool):
        self.address, self.size, self.stream = entry["addr"], entry["size"], entry["stream"]
        self.pool, self.begin, self.end = pool, entry["time_us"], float("inf")
        self.is_asleep = False

    def is_there(self, time):
        return self.begin <= time < self.end


def mark_sleeps(snapshot, changes):
    """Adds a marker, "sleep" or "wake", wherever all that a pool held was unmapped or is mapped again.

    `changes` are those of the mappings, as tuples of a time in microseconds, an address and whether it was mapped; in
    their order. Returns how many bytes slept at most in pools of which a part stayed awake: no marker says that.
    PyTorch before 2.2 records no times, and gets no markers.
    """
    pools = {segment["address"]: tuple(segment.get("segment_pool_id", (0, 0))) for segment in snapshot["segments"]}
    partly = 0
    for entries in snapshot["device_traces"]:
        if not entries or "time_us" not in entries[0]:
            continue
        segments = _segments(entries, pools)
        markers, marked = [], set()
        for time, is_mapped, addresses in _together(changes, entries):
            touched = {segment.pool for segment in _set(segments, time, is_mapped, addresses)}
            for pool in sorted(touched):
                alive = [segment for segment in segments.of_pool(pool) if segment.is_there(time)]
                asleep = [segment for segment in alive if segment.is_asleep]
                if len(asleep) == len(alive):
                    marked.add(pool)
                    markers.append(_marker(alive[0], time, "sleep", entries))
                elif not asleep and pool in marked:
                    marked.remove(pool)
                    markers.append(_marker(alive[0], time, "wake", entries))
                elif pool not in marked:
                    partly = max(partly, sum(segment.size for segment in asleep))
        times = [entry["time_us"] for entry in entries]
        for marker in reversed(markers):
            entries.insert(bisect.bisect_right(times, marker["time_us"]), marker)
    return partly


class _Segments:
    def __init__(self):
        self._at = collections.defaultdict(list)
        self._pools = collections.defaultdict(list)

    def add(self, segment):
        self._at[segment.address].append(segment)
        self._pools[segment.pool].append(segment)

    def at(self, address, time):
        return next((segment for segment in self._at[address] if segment.is_there(time)), None)

    def of_pool(self, pool):
        return self._pools[pool]

    def free(self, address, time):
        if self._at[address]:
            self._at[address][-1].end = time


def _segments(entries, pools):
    segments = _Segments()
    for entry in entries:
        if entry["action"] == "segment_alloc":
            segments.add(Segment(entry, tuple(entry.get("pool_id", pools.get(entry["addr"], (0, 0))))))
        elif entry["action"] == "segment_free":
            segments.free(entry["addr"], entry["time_us"])
    return segments


def _together(changes, entries):
    """Changes of one kind with no entry of the history in between: the time of the last one, the kind, the addresses."""
    times = [entry["time_us"] for entry in entries]
    by_moment = itertools.groupby(changes, key=lambda change: (change[2], bisect.bisect_right(times, change[0])))
    for (is_mapped, _), group in by_moment:
        group = list(group)
        yield group[-1][0], is_mapped, [address for _, address, _ in group]


def _set(segments, time, is_mapped, addresses):
    """The segments whose sleep these changes begin or end."""
    for address in addresses:
        segment = segments.at(address, time)
        if segment and segment.is_asleep == is_mapped and (is_mapped or segment.end - time > FREED_WITH_IT):
            segment.is_asleep = not is_mapped
            yield segment


def _marker(segment, time, kind, entries):
    marker = {"action": "snapshot", "addr": segment.address, "size": 0, "stream": segment.stream, "time_us": time,
              "user_metadata": kind, "frames": []}
    if "pool_id" in entries[0]:
        marker["pool_id"] = segment.pool
    return marker


def _cuda_version(torch_folder):
    """1000 * major + 10 * minor, as the runtime counts."""
    with open(os.path.join(torch_folder, "version.py"), encoding="utf-8") as file:
        found = re.search(r"^cuda\b[^=]*=\s*['\"](\d+)\.(\d+)", file.read(), re.MULTILINE)
    if not found:
        raise Unusable(f"{torch_folder}: built without CUDA; expected a build with it (pip install torch)")
    return 1000 * int(found[1]) + 10 * int(found[2])


def _cudnn_folder(torch_folder):
    """Where NVIDIA's package beside this torch, or torch itself, holds cuDNN; empty: nowhere."""
    torch_folder = os.path.abspath(torch_folder)
    for folder in (os.path.join(os.path.dirname(torch_folder), "nvidia", "cudnn", "lib"),
                   os.path.join(torch_folder, "lib")):
        if os.path.exists(os.path.join(folder, "libcudnn.so.9")):
            return folder
    return ""


def _metadata(torch_folder):
    """What the package of this torch says of itself; empty where it was not installed as one."""
    with open(os.path.join(torch_folder, "version.py"), encoding="utf-8") as file:
        found = re.search(r"^__version__\s*=\s*['\"]([^'\"]+)", file.read(), re.MULTILINE)
    version = found[1] if found else ""
    beside = os.path.dirname(os.path.abspath(torch_folder))
    for name in (version, version.partition("+")[0]):  # the package index knows no +cu128
        path = os.path.join(beside, f"torch-{name}.dist-info", "METADATA")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                return file.read()
    return ""


def _required_version(metadata, library):
    """10000 * major + 100 * minor + patch of one of NVIDIA's libraries; 0 where the package does not say it."""
    found = re.search(rf"^Requires-Dist: nvidia-{library}-cu\d+ ?\(?==(\d+)\.(\d+)\.(\d+)", metadata, re.MULTILINE)
    return 10000 * int(found[1]) + 100 * int(found[2]) + int(found[3]) if found else 0


def _is_of_a_library(file):
    return "/site-packages/" in file or "/dist-packages/" in file or file.startswith("<frozen")
