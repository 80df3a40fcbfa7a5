"""what recording costs: the time of a program under `record --malloc` by its time alone, nanoseconds of processor time and
bytes on disk an event, beside heaptrack's recorder"""
import os
import pathlib
import shutil
import subprocess
import sys

from cases import HERE, Case
from processes import done

AT_ONCE = 3
BLOCKS = 3_000_000
JSON = ("import json; rows = [{'name': str(i), 'values': list(range(20))} for i in range(20000)]; "
        "json.loads(json.dumps(rows))")
C_SOURCE = "int printf(const char*, ...);\n" + "".join(
    f"int f{i}(int a, int b) {{ for (int i = 0; i < a; ++i) b += i * {i} % (b | 1); return printf(\"%d\", b); }}\n"
    for i in range(300))


def recorder(program):
    return program.parent / "capture/memreplay_malloc.so"


def heaptrack():
    """What its script preloads; the script's own start is not counted."""
    script = shutil.which("heaptrack")
    library = pathlib.Path(script).resolve().parents[1] / "lib/heaptrack/libheaptrack_preload.so" if script else None
    return library if library and library.exists() else None


def ran(command, folder, **variables):
    """How it went once, with what the recorder left in the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return done(command, env={**os.environ, **variables})


def least(command, folder, **variables):
    """Seconds of the fastest of some, as a busy moment makes any of them slower."""
    seconds = min(ran(command, folder, **variables).seconds for _ in range(AT_ONCE))
    shutil.rmtree(folder)
    return seconds


def bytes_in(folder):
    return sum(file.stat().st_size for file in folder.iterdir())


def programs(folder):
    """Each is one process, as heaptrack does not follow what a program starts."""
    handing = folder / "handing"
    subprocess.run(["c++", "-O2", "-std=c++20", "-pthread", HERE / "handing.cpp", "-o", handing], check=True)
    source = folder / "source.c"
    source.write_text(C_SOURCE, encoding="utf-8")
    compiler = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=True).stdout.strip()
    return {"one-thread": [handing, "1", BLOCKS], "four-threads": [handing, "4", BLOCKS],
            "python-json": [sys.executable, "-c", JSON],
            "compiler": [compiler, "-quiet", "-O1", source, "-o", folder / "source.s"]}


def recorders(bench, folder):
    """What to set for each recorder."""
    ours = {who: {"LD_PRELOAD": str(recorder(program)), "MEMREPLAY_SPOOL": str(folder)}
            for who, program in bench.programs.items()}
    if not heaptrack():
        return ours
    return ours | {"heaptrack": {"LD_PRELOAD": str(heaptrack()), "DUMP_HEAPTRACK_OUTPUT": str(folder / "heaptrack")}}


def cases(bench):
    spools = bench.folder / "recorded"
    for name, command in programs(bench.folder).items():
        times = lambda variables, command=command: least(command, spools, **variables) / least(command, spools)
        yield case_of(bench, f"record/{name}", "times", times, spools)
        if not name.endswith(("thread", "threads")):
            continue
        events = 2 * BLOCKS
        more = lambda variables, command=command: min(
            ran(command, spools, **variables).processor_seconds - ran(command, spools).processor_seconds
            for _ in range(AT_ONCE)) / events * 1e9
        yield case_of(bench, f"record/{name}/time", "ns/event", more, spools)
        size = lambda variables, command=command: (ran(command, spools, **variables), bytes_in(spools))[1] / events
        yield case_of(bench, f"record/{name}/size", "bytes/event", size, spools)


def case_of(bench, name, unit, sample, spools):
    return Case(name, unit, {who: lambda variables=variables: sample(variables)
                             for who, variables in recorders(bench, spools).items()})
