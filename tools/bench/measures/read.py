"""`info` of a large snapshot beside CPython's `pickle.load`, and of a CSV: speed and peak memory"""
import sys

from cases import Case
from processes import done

LOAD = "import pickle, sys; pickle.load(open(sys.argv[1], 'rb'))"


def unpickled(path):
    """Without the start of the interpreter."""
    started = done([sys.executable, "-c", "pass"])
    loaded = done([sys.executable, "-c", LOAD, path])
    return loaded.seconds - started.seconds, loaded.peak_mib


def cases(bench):
    snapshot = bench.folder / "large.pickle"
    bench.generate("snapshots.py", snapshot, "--seed", bench.seed)
    csv = bench.random(5_000, 9, 26).csv
    for name, path, peer in (("snapshot", snapshot, {"pickle": lambda: unpickled(snapshot)}), ("csv", csv, {})):
        megabytes = path.stat().st_size / 1e6
        read = lambda program, path=path: done([program, "info", path, "--json"])
        speed = {who: lambda sample=sample: megabytes / sample()[0] for who, sample in peer.items()}
        memory = {who: lambda sample=sample: sample()[1] for who, sample in peer.items()}
        yield Case(f"read/{name}/speed", "MB/s", bench.each(lambda program: megabytes / read(program).seconds) | speed,
                   note=lambda: f"{megabytes:.1f} MB")
        yield Case(f"read/{name}/memory", "MiB", bench.each(lambda program: read(program).peak_mib) | memory)
