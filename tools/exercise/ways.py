"""The ways of checkpointing that the exercise compares, and what the program says of each."""
import csv
import dataclasses
import json
import pathlib
import subprocess
import tempfile

TRACE = "traces/torch/gpt_step.pickle.gz"
LAYER = "code=models.py:47-49"
STEP = "step 1"  # the second one, when the optimizer has its state


@dataclasses.dataclass
class Way:
    name: str
    edit: str = ""


WAYS = [
    Way("nothing"),
    Way("every third layer", f"checkpoint:{LAYER},only=3"),
    Way("the attention half of every layer", "checkpoint:function=attn"),
    Way("every second layer", f"checkpoint:{LAYER},only=2"),
    Way("the first of two segments", f"checkpoint:{LAYER},segments=2"),
    Way("the mlp half of every layer", "checkpoint:function=mlp"),
    Way("layers in pairs", f"checkpoint:{LAYER},group=2"),
    Way("every layer", f"checkpoint:{LAYER}"),
]


@dataclasses.dataclass
class Outcome:
    """What one way gives, in bytes. Repeated requests count in both recorded steps."""
    way: Way
    requested: int
    reserved: int
    reserved_within: tuple
    again_bytes: int
    again_requests: int
    device_calls: int
    device_seconds: float


def replayed(program, root, trace, edit, *options):
    edits = ["--edit", edit] if edit else []
    done = subprocess.run([program, "replay", trace, *edits, *options, "--json"], cwd=root, check=True, text=True,
                          stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def outcome(program, root, way, trace=TRACE):
    answer = replayed(program, root, trace, way.edit)
    run = answer["runs"][0]
    facts = answer["trace"].get("edits") or [{"recomputed_bytes": 0, "recomputed_requests": 0}]
    reserved = run["peak_reserved_bytes"]
    within = (run["interval"] or {}).get("peak_reserved_bytes", [reserved, reserved])
    return Outcome(way, run["peak_requested_bytes"], reserved, tuple(within), facts[0]["recomputed_bytes"],
                   facts[0]["recomputed_requests"], run["device_allocs"] + run["device_frees"],
                   run["timing"]["modelled_device_seconds"])


@dataclasses.dataclass
class Curve:
    """Requested bytes after each request and free of the step."""
    way: Way
    requested: list
    backward: int  # begins at this one of them


def begin_of(phases, name, within):
    """When the first phase of that name begins in [from, to)."""
    return min(phase["ts"] for phase in phases
               if phase["ph"] == "b" and phase["name"] == name and within[0] <= phase["ts"] < within[1])


def curve(program, root, way):
    with tempfile.TemporaryDirectory() as folder:
        timeline, trace = pathlib.Path(folder, "timeline.csv"), pathlib.Path(folder, "trace.json")
        replayed(program, root, TRACE, way.edit, "--timeline", timeline, "--perfetto", trace)
        with timeline.open(encoding="utf-8") as file:
            rows = [(int(row["time_us"]), int(row["requested"])) for row in csv.DictReader(file)]
        phases = [event for event in json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
                  if event.get("cat") == "phase"]
    step = tuple(phase["ts"] for phase in phases if phase["name"] == STEP)
    backward = begin_of(phases, "backward", step)
    # A free is two events; what is requested changes at the first of them.
    changes = [row for before, row in zip(rows, rows[1:]) if step[0] <= row[0] < step[1] and row[1] != before[1]]
    return Curve(way, [requested for _, requested in changes], sum(time < backward for time, _ in changes))
