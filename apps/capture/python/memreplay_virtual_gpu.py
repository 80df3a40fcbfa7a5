"""Puts the stand-ins of NVIDIA's libraries into this process, before torch asks for them."""
import atexit
import collections
import ctypes
import json
import os
import re
import shutil
import subprocess
import sys

READS_TOLD = 20
READS_OF_A_LOOP = 10_000


class Unusable(Exception):
    """This torch cannot run on a virtual GPU; the message says why."""


class VirtualGpu:
    """The device, with what it has to tell at the end."""

    def __init__(self, program, card=None):
        """`card` is for --virtual-gpu; without it the environment says which one it is."""
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
        self._gpu.memreplay_gpu_runtime(_cuda_version(torch_folder))
        metadata = _metadata(torch_folder)
        self._gpu.memreplay_gpu_libraries(_required_version(metadata, "cudnn"), _required_version(metadata, "nccl"))
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

    def forget_reads(self, _recorder):
        """The interpreter ends: nothing of Python may be called any more."""
        if self._gpu:
            self._gpu.memreplay_gpu_watch_reads(None)

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
    """Times become positions: kernels take no time here, and the same program gives the same file."""
    lists = [trace for trace in snapshot.get("device_traces", [])]
    lists.append(snapshot.get("external_annotations", []))
    timed = [entry for entries in lists for entry in entries if "time_us" in entry]
    timed.sort(key=lambda entry: entry["time_us"])
    for position, entry in enumerate(timed):
        entry["time_us"] = position


def _cuda_version(torch_folder):
    """1000 * major + 10 * minor, as the runtime counts."""
    with open(os.path.join(torch_folder, "version.py"), encoding="utf-8") as file:
        found = re.search(r"^cuda\b[^=]*=\s*['\"](\d+)\.(\d+)", file.read(), re.MULTILINE)
    if not found:
        raise Unusable(f"{torch_folder}: built without CUDA; expected a build with it (pip install torch)")
    return 1000 * int(found[1]) + 10 * int(found[2])


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
