"""traces in our own format for machines (.mrt): generated, then replayed in bounded memory"""
import subprocess

from cases import Case
from processes import done

SIZES = [10**6, 10**7]
LIVE = [10**2, 10**3, 10**4, 10**5, 10**6]


def generate(bench, trace, events, live):
    command = [bench.program, "generate", "random", trace, "--events", events, "--live", live, "--seed", bench.seed]
    made = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    return made.stderr.splitlines()[0] if made.returncode else ""


def cases(bench):
    loads = [(events, 5_000) for events in SIZES] + [(SIZES[0], live) for live in LIVE]
    for events, live in loads:
        name, trace = f"scale/{events:.0e}-events/{live:.0e}-live".replace("e+0", "e"), bench.folder / "scale.mrt"
        missing = generate(bench, trace, events, live)
        if missing:
            yield Case(name, "ns/event", {}, note=lambda: f"this program has no such traces ({missing})")
            return
        size = trace.stat().st_size / events
        replay = lambda: done([bench.program, "replay", trace, "-s", "torch", "--quiet"])
        yield Case(f"{name}/time", "ns/event", {"memreplay": lambda: replay().seconds / events * 1e9},
                   note=lambda: f"{size:.2f} bytes an event")
        yield Case(f"{name}/memory", "MiB", {"memreplay": lambda: replay().peak_mib}, rounds=1)
        trace.unlink()
