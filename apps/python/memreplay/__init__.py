"""Replays recorded GPU allocations: why did it run out of memory, and which setting helps?

A trace is a path, the bytes of a file, or what torch.cuda.memory._snapshot() returns. Keyword
arguments are the options of the command line: `--torch-version 2.9.0` is torch_version="2.9.0",
`--from` is from_, a flag is True, an option that may be repeated takes a list. Sizes are whole
numbers of bytes or texts ("24GiB", "512MiB"). `memreplay COMMAND --help-all` has every option.

    >>> memreplay.explain("oom.pickle").verdict
    'fragmentation'
    >>> memreplay.tune(torch.cuda.memory._snapshot()).best.setting
    'expandable_segments:True'
"""
import os

from . import _memreplay, _parts
from ._answer import Answer, Report
from ._errors import Error, InputError, UsageError
from ._question import Question
from ._tables import Table

__version__ = _memreplay.__version__
__all__ = ["Answer", "Error", "InputError", "Report", "Table", "UsageError", "check", "compare", "convert", "diff",
           "explain", "fit", "generate", "info", "lint", "plan", "ranks", "replay", "report", "stress", "suggest",
           "tune", "verify"]


def info(*traces, **options):
    """What does the recording cover, and can it be trusted?

    Options: gpu, format, columns, process, reader.
    """
    return Answer(Question("info", traces, options))


def replay(*traces, **options):
    """What happens under these strategies? One run for each, in the order given.

    strategies: ["recorded", "torch:max_split_size_mb=128", "bfc"]; by default `recorded` where the
        recording has settings, else `torch`
    alloc_conf: texts of PYTORCH_CUDA_ALLOC_CONF, for strategies="torch:..."
    torch_version: rules of that release, "2.9.0"; of one strategy alone "torch@2.9"
    set: settings of PyTorch in one phase, "max_split_size_mb:64@phase:load", or a list of them
    capacity: memory of the device, bytes or "24GiB"; "none" for no limit
    reserve: memory of the device that others hold, bytes or a size
    from_, to: first event measured, first one left out; seconds as "3s"
    start: "auto", or "cold" without the blocks from before the recording
    gpu: which device of the recording
    edit: "checkpoint:function=mlp", changes of the program, one after the other
    vary: {"batch": {4: trace, 8: trace}}, the program at values of a parameter, instead of traces
    at: {"batch": 16}, the value that is predicted from them
    """
    return Answer(Question("replay", traces, options))


def compare(*traces, **options):
    """Strategies side by side, ranked. Options are those of replay; without strategies the presets."""
    return Answer(Question("compare", traces, options))


def explain(*traces, **options):
    """Fragmentation or shortage? What pins the memory?

    at: "oom", "peak", "reserved-peak" or the number of an event
    by: what counts as one call site: "place", "function", "file", "module"
    top: rows of each table of the text
    by_phase: True shows who holds most at the peak of each phase, or step
    growth: True shows call sites that hold more memory after each step
    tree: True shows their callers
    phases: ["forward=100:250"], peaks of the events in [100, 250)
    strategy: memory of a replay under it instead of the recorded one
    capacity, reserve, gpu, torch_version: as in replay
    """
    return Answer(Question("explain", traces, options))


def tune(*traces, **options):
    """Which allocator setting is best? One for all recordings; best.env is the line to paste.

    strategy: "ort-arena" for ONNX Runtime's; by default PyTorch's
    runs: settings to try; 1000, fewer for long recordings
    seconds: start no more replays after this many
    threads: parallel replays; one per processor core
    objective: "reserved", "calls" or "retries": what to minimise, after failures
    allow, forbid: lists of options of PyTorch's allocator, varied alone or left at their default
    capacity, reserve, gpu, torch_version: as in replay
    """
    return Answer(Question("tune", traces, options))


def fit(*traces, **options):
    """The smallest device on which it runs, per strategy; exit_code 1 where one does not fit.

    strategies, torch_version, reserve, start, gpu: as in replay
    capacity: judge this size, bytes or "24GiB"
    device_name: "T4" or "4090,a100": judge these cards
    budget: events that each search may replay
    vary, find: the program at values of a parameter, as in replay, and that parameter, "batch": its largest value
        that fits; output: a page with the curves
    """
    return Answer(Question("fit", traces, options))


def suggest(*traces, **options):
    """What to change in the program so that it fits, cheapest first; exit_code 1 where nothing does.

    budget: memory that it has to fit in, bytes or "24GiB"; by default the device of the recorded failure
    only: "checkpoint" or "offload"
    optimizer: "adam", "momentum" or "sgd", where the recording ends in its first step
    strategies, torch_version, reserve, start, gpu: as in replay
    """
    return Answer(Question("suggest", traces, options))


def stress(*traces, **options):
    """What margin is enough when the same steps run in other orders? One run for each strategy.

    strategies, torch_version, capacity, reserve, start, gpu: as in replay
    orders: how many other orders to replay; 6000, fewer for long recordings
    seed: the same seed gives the same orders
    at_once: steps that run at once
    step: count this many events as a step
    with_: recordings whose steps are used too
    threads: parallel replays; one per processor core
    """
    return Answer(Question("stress", traces, options))


def plan(*traces, **options):
    """How small could it be if the future were known? exit_code 1 where nothing fits the capacity.

    capacity: memory that the plan must fit in; minimise=True goes on below it
    timeout: seconds after which the best so far is the answer
    solver: "automatic", "greedy", "improve" or "exact"
    memory: ["npu=4MiB", "dram=1GiB"], filled in that order, instead of a capacity
    threads, seed, align, gpu; placements: a file for id,lower,upper,size,offset; output: a page
    """
    return Answer(Question("plan", traces, options))


def diff(a, b=None, **options):
    """What changed between two recordings; of one recording between two strategies.

    strategies: one for both recordings, or two for one
    at_step: compare the peaks within that step
    by, top: as in explain
    """
    return Answer(Question("diff", [a] if b is None else [a, b], options))


def ranks(*traces, **options):
    """Which rank of a job needs most, which make the same requests, and where does one diverge from the others?

    traces: one recording of each rank; folders are searched at any depth
    strategies, capacity, reserve, torch_version, start, gpu: as in replay
    jobs: recordings in memory at once; the processor's cores
    tune: True searches one setting for all, on a recording of each class
    shard: "1/8", only every eighth recording, from the first on: a part of the answer
    merge: True where the traces are such parts, in any order: answers, the bytes or paths of their JSON
    exit_code is 2 where a recording could not be read; `unreadable` and `notes` name it.
    """
    if options.get("merge"):
        return _parts.merged(traces, options)
    return Answer(Question("ranks", traces, options))


def check(*traces, baseline, **options):
    """Did it get worse than the baseline file says? exit_code 1 where it did; `passed` says so too.

    baseline: the file; update=True writes it
    tolerance: how much a value may grow: "2%", "64MiB"
    metrics: ["peak_reserved_bytes=2%"]
    """
    return Answer(Question("check", traces, {"baseline": baseline, **options}))


def verify(*traces, **options):
    """Does the model give every recorded address and segment? exit_code 1 where it diverged.

    Options: torch_version, gpu, format, columns, process, reader.
    """
    return Answer(Question("verify", traces, options))


def lint(conf, **options):
    """Is this allocator setting valid, and does it fight itself? exit_code 1 where it has an error.

    conf: a PYTORCH_CUDA_ALLOC_CONF, or the path of a recording that has one
    """
    return Answer(Question("lint", [conf], options))


def report(*traces, output=None, **options):
    """Pictures in one file that opens anywhere. A Report, which `output` names a file for.

    strategies, capacity, gpu: as in replay
    from_, to: events that the page has in full
    """
    ran = Question("report", traces, {"output": "-" if output is None else output, **options}).ask()
    if output is None:
        return Report(ran.output)
    with open(output, encoding="utf-8") as file:
        return Report(file.read())


def convert(source, target, **options):
    """Writes a recording in the format that the ending of `target` says: pickle, json, csv, mrt. Returns the notes.

    source, target: paths
    strategy: as if it had been recorded under this one
    anonymise, minimise: True for a recording to show to others, for the smallest that shows the same
    """
    return _written("convert", [source], target, options)


def generate(kind, target, **options):
    """Writes a synthetic recording from a seed. Returns the notes.

    kind: "random", "training:layers=12" (memreplay list workloads)
    target: a path that ends in .mrt or .csv
    events, live, seed: whole numbers
    """
    return _written("generate", [kind], target, options)


def _written(command, names, target, options):
    if os.fspath(target) == "-":
        raise UsageError(f"{command}: the target is '-'; expected a file")
    return Question(command, [*names, target], options).ask().notes
