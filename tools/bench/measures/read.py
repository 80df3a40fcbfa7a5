"""`info` of a large snapshot beside CPython's unpickler, of the same compressed, of a CSV and of other tools' logs: speed, peak
memory, megabytes of the `.mrt` that `convert` makes of them"""
import pathlib
import subprocess
import sys

from cases import Case
from logs import WRITERS
from processes import done

LOAD = "import runpy, sys; runpy.run_path(sys.argv[1])['values_in'](sys.argv[2])"
VALUES = pathlib.Path(__file__).resolve().parents[2] / "values.py"


def unpickled(path):
    """Without the start of the interpreter."""
    started = done([sys.executable, "-c", "pass"])
    loaded = done([sys.executable, "-c", LOAD, VALUES, path])
    return loaded.seconds - started.seconds, loaded.peak_mib


def files(bench):
    """What is read, and who else reads it."""
    snapshot = bench.folder / "large.pickle"
    bench.generate("snapshots.py", snapshot, "--seed", bench.seed)
    yield "snapshot", snapshot, {"pickle": lambda: unpickled(snapshot)}
    subprocess.run(["gzip", "--keep", "--force", snapshot], check=True)
    yield "snapshot-gz", bench.folder / "large.pickle.gz", {}
    yield "csv", bench.random(5_000, 9, 26).csv, {}
    for name in WRITERS:
        log = bench.folder / f"{name}.log"
        bench.generate("logs.py", name, log, "--events", bench.events, "--seed", bench.seed)
        yield name, log, {}


def cases(bench):
    for name, path, peer in files(bench):
        yield from cases_of(bench, name, path, peer)


def cases_of(bench, name, path, peer):
    megabytes = path.stat().st_size / 1e6
    read = lambda program: done([program, "info", path, "--json"])
    convert = lambda program: done([program, "convert", path, bench.folder / "read.mrt"])
    speed = {who: lambda sample=sample: megabytes / sample()[0] for who, sample in peer.items()}
    memory = {who: lambda sample=sample: sample()[1] for who, sample in peer.items()}
    yield Case(f"read/{name}/speed", "MB/s", bench.each(lambda program: megabytes / read(program).seconds) | speed,
               note=lambda: f"{megabytes:.1f} MB")
    yield Case(f"read/{name}/memory", "MiB", bench.each(lambda program: read(program).peak_mib) | memory)
    yield Case(f"read/{name}/convert", "MiB", bench.each(lambda program: convert(program).peak_mib))
    size = lambda program: (convert(program), (bench.folder / "read.mrt").stat().st_size)[1] / 1e6
    yield Case(f"read/{name}/mrt", "MB", bench.each(size), rounds=1)
