"""What is measured: a case is one figure of ours with those of its peers, taken in turn."""
import dataclasses
import pathlib
import statistics
import subprocess
import sys
import typing

from processes import Failed

HERE = pathlib.Path(__file__).resolve().parent
MORE_IS_BETTER = {"M events/s", "MB/s"}


@dataclasses.dataclass
class Case:
    name: str  # GROUP/LOAD/WHAT
    unit: str
    sides: dict[str, typing.Callable[[], float]]  # who makes a sample; empty: see the note
    rounds: int | None = None  # nothing: as asked for
    note: typing.Callable[[], str] = lambda: ""  # asked after the last sample


@dataclasses.dataclass
class Figure:
    name: str
    unit: str
    samples: dict[str, list[float]]
    note: str

    def median(self, who="memreplay"):
        return statistics.median(self.samples[who])

    def spread(self, who="memreplay"):
        """Range of the samples, as a share of the median."""
        return (max(self.samples[who]) - min(self.samples[who])) / self.median(who)

    def times_better(self, median, than):
        """Than another median of the same unit."""
        if not median or not than:
            return float("nan")
        return median / than if self.unit in MORE_IS_BETTER else than / median

    def ratio(self, who):
        return self.times_better(self.median(), self.median(who))


def measured(case, rounds):
    """Every side in turn, so that a busy moment meets them all. No samples where one of them fails."""
    samples = {who: [] for who in case.sides}
    try:
        for _ in range(case.rounds or rounds):
            for who, sample in case.sides.items():
                samples[who].append(sample())
        return Figure(case.name, case.unit, samples, case.note())
    except Failed as failed:
        return Figure(case.name, case.unit, {}, str(failed))


@dataclasses.dataclass
class Load:
    csv: pathlib.Path
    plain: pathlib.Path


class Bench:
    """The programs to measure, and the loads that they share."""

    def __init__(self, options, folder):
        self.program = options.program.resolve()
        self.programs = {"memreplay": self.program}
        if options.earlier:
            self.programs["earlier"] = options.earlier.resolve()
        self.oracle = options.oracle
        self.bfc = options.bfc
        self.recordings = options.recording
        self.events = options.events
        self.seed = options.seed
        self.folder = pathlib.Path(folder)
        self.loads = {}

    def each(self, sample):
        """What to sample, by program: `sample(program)`."""
        return {who: lambda program=program: sample(program) for who, program in self.programs.items()}

    def random(self, live, low, high, events=None, streams=1):
        return self.load(f"random-{events or self.events}-{live}-{low}-{high}-{streams}", events,
                         "--random", live, low, high, "--seed", self.seed, "--streams", streams)

    def looped(self, recording):
        return self.load(f"looped-{recording.stem}", None, "--recording", recording)

    def load(self, name, events, *arguments):
        if name not in self.loads:
            load = Load(self.folder / f"{name}.csv", self.folder / f"{name}.txt")
            self.generate("loads.py", load.csv, load.plain, "--events", events or self.events, *arguments)
            self.loads[name] = load
        return self.loads[name]

    def generate(self, script, *arguments):
        subprocess.run([sys.executable, "-B", HERE / script, *map(str, arguments)], check=True)
