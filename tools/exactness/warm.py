"""Recordings that begin in the middle of a program: what is called exact, and is it?"""
import dataclasses
import functools
import json
import pathlib

from program import replayed, table

SAME = "its own settings, the recorded device"
SMALLER = "its own settings, a smaller device"
OTHER = "other settings"


@dataclasses.dataclass
class Case:
    snapshot: pathlib.Path
    recorded: dict
    truth: dict

    def kind(self):
        if self.truth["config"] != self.recorded["config"]:
            return OTHER
        return SAME if self.truth["capacity_mib"] == self.recorded["capacity_mib"] else SMALLER


def judged(program, case):
    """Whether the program calls the replay exact, and whether the original reserved the same at its peak."""
    run, _ = replayed(program, case.snapshot, case.truth, case.recorded["torch_version"])
    if run is None:
        return False, False
    truth = case.truth
    return run["exact"], not truth["ended_by_oom"] and run["peak_reserved_bytes"] == truth["reserved_peak_in_window"]


def all_cases(folder):
    for sidecar in sorted(folder.glob("*.json")):
        recorded = json.loads(sidecar.read_text())
        itself = {**recorded["recorded"], **{key: recorded[key] for key in ("config", "capacity_mib")}}
        for truth in [itself, *recorded["truths"]]:
            yield Case(sidecar.with_suffix(".pickle"), recorded, truth)


def section(program, corpus, pool):
    cases = list(all_cases(corpus / "warm"))
    judgements = list(zip(cases, pool.map(functools.partial(judged, program), cases)))
    rows = []
    for kind in (SAME, SMALLER, OTHER):
        of_kind = [judgement for case, judgement in judgements if case.kind() == kind]
        rows.append((kind, len(of_kind), sum(exact for exact, _ in of_kind),
                     sum(exact and equal for exact, equal in of_kind)))
    yield from table(("replayed under", "replays", "called exact", "of these the original reserved the same"), rows)
    wrong = [f"- `{case.snapshot.stem}` on {case.truth['capacity_mib']:,} MiB: the original "
             f"{'ran out of memory' if case.truth['ended_by_oom'] else 'reserved another amount'}"
             for case, (exact, equal) in judgements if exact and not equal]
    if wrong:
        yield from ("", "Called exact and not the same:", "", *wrong)
    for case, (exact, _) in judgements:
        if exact == (case.kind() == OTHER) and case.kind() != SMALLER:
            yield (f"UNEXPLAINED: `{case.snapshot.stem}` under `{case.truth['config'] or 'default'}` is called "
                   f"{'exact' if exact else 'an estimate'}")
