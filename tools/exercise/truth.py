"""What the program says of checkpointed programs from the recordings of the plain ones, beside what the
recordings of the checkpointed ones say."""
import dataclasses
import json

from ways import Outcome, outcome, Way

OF_K = {"seg": "group", "nth": "only", "seq": "segments"}
FUNCTIONS = {("mixer", "attn"): "mix"}
NAMES = {"attn": "the attention half of every layer", "mlp": "the mlp half of every layer", "seg1": "every layer",
         "seg2": "layers in pairs", "seg4": "layers by fours", "nth2": "every second layer", "nth3": "every third layer",
         "seq2": "the first of two segments"}


@dataclasses.dataclass
class Pair:
    plain: str  # the recordings' names
    checkpointed: str
    program: str
    said: Outcome
    requested: int  # as recorded
    reserved: int

    def within(self):
        low, high = self.said.reserved_within
        return low <= self.reserved <= high


def edit_of(sidecar):
    """What makes the plain program this one; nothing where no edit does."""
    how = sidecar["parameters"]
    kind = how["checkpoint"]
    if kind in ("attn", "mlp"):
        parts = ["function=" + FUNCTIONS.get((sidecar["workload"], kind), kind)]
    elif kind in OF_K:
        parts = [f"code={name.rpartition(':')[0]}:{first}-{last}"
                 for name, (first, last) in sidecar["layer_functions"].items()]
        parts.append(f"{OF_K[kind]}={how['k']}")
    else:
        return ""
    return "checkpoint:" + ",".join(parts + ["reentrant=true"] * how["reentrant"])


def name_of(recording):
    kind = recording.partition(".")[2]
    return NAMES[kind.removesuffix("r")] + (", reentrant" if kind.endswith("r") else "")


def pairs(program, root, recordings, pool):
    """A Pair for each question that an edit answers."""
    asked = []
    for row in (recordings / "pairs.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        family, plain, changed = row.split("\t")
        sidecar = json.loads((recordings / f"{changed}.json").read_text(encoding="utf-8"))
        if family == "checkpoint" and (edit := edit_of(sidecar)):
            trace = recordings / f"{plain}.pickle.gz"
            asked.append((plain, changed, sidecar, pool.submit(outcome, program, root, Way(changed, edit), trace)))
    return [Pair(plain, changed, sidecar["workload"], said.result(), sidecar["peak_requested"],
                 sidecar["max_memory_reserved"]) for plain, changed, sidecar, said in asked]
