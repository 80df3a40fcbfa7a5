"""pytest: tests that say how much GPU memory they may take.

    @pytest.mark.limit_gpu_memory("24 GB")
    def test_training_step(): ...

Where there is no CUDA device they are skipped, or run on a virtual one: --virtual-gpu a100-40g, or virtual_gpu in
the ini file.
"""
import glob
import re
import sys

import pytest

import memreplay
from memreplay import _program, _recorder, _virtual_gpu
from memreplay._memreplay import parse_size


def pytest_addoption(parser):
    sentence = "the card to simulate where there is no GPU: a100-40g, h100:memory=24GiB (memreplay list cards)"
    parser.getgroup("memreplay").addoption("--virtual-gpu", metavar="CARD", help=sentence)
    parser.addini("virtual_gpu", sentence)


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "limit_gpu_memory(size): fails a test whose allocations reserve more than size, such as '24 GB'; "
        "skips it where there is no CUDA device, nor a virtual one (--virtual-gpu)")
    card = config.getoption("--virtual-gpu") or config.getini("virtual_gpu")
    if card and not glob.glob("/dev/nvidia[0-9]*"):
        _stand_in(card)


def _stand_in(card):
    """From here on a torch that is imported finds this card."""
    if "torch" in sys.modules:
        raise pytest.UsageError("--virtual-gpu: torch is imported already; expected the plugin before it "
                                "(-p memreplay.pytest_plugin)")
    gpu = _virtual_gpu.VirtualGpu(_program.path(), card)

    def load(torch_folder):
        try:
            gpu.load(torch_folder)
        except _virtual_gpu.Unusable as error:
            raise pytest.UsageError(f"--virtual-gpu: {error}") from error

    sys.meta_path.insert(0, _recorder.AroundImport("torch", load, lambda torch: None))


def _cuda():
    """torch, where it has a device; None elsewhere."""
    try:
        import torch
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def _record(torch):
    torch.cuda.empty_cache()
    torch.cuda.memory._record_memory_history(max_entries=10_000_000, stacks="python")


@pytest.fixture
def gpu_memory():
    """Records the test; called, it gives the snapshot so far, which every question of memreplay takes."""
    torch = _cuda()
    if torch is None:
        pytest.skip("no CUDA device to record")
    _record(torch)
    yield torch.cuda.memory._snapshot
    torch.cuda.memory._record_memory_history(enabled=None)


def pytest_runtest_setup(item):
    marker = item.get_closest_marker("limit_gpu_memory")
    if marker is None:
        return
    _limit(marker)
    if _cuda() is None:
        pytest.skip("limit_gpu_memory: no CUDA device to record")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    marker = item.get_closest_marker("limit_gpu_memory")
    if marker is None:
        yield
        return
    limit = _limit(marker)
    torch = _cuda()
    _record(torch)
    outcome = yield
    snapshot = torch.cuda.memory._snapshot()
    torch.cuda.memory._record_memory_history(enabled=None)
    excess = None if outcome.excinfo else _excess(snapshot, limit)
    if excess:
        outcome.force_exception(pytest.fail.Exception(excess, pytrace=False))


def _limit(marker):
    """Its bytes. Takes "24 GB" too, as the marker of memray has it: 24 GiB."""
    given = [*marker.args, *marker.kwargs.values()]
    size = given[0] if len(given) == 1 and set(marker.kwargs) <= {"size"} else None
    limit = None if size is None else parse_size(re.sub(r"([KMGT])B$", r"\1iB", str(size).replace(" ", "")))
    if limit is None:
        shown = ", ".join([*map(repr, marker.args), *(f"{name}={value!r}" for name, value in marker.kwargs.items())])
        pytest.fail(f"limit_gpu_memory({shown}): expected a size such as '24 GB'", pytrace=False)
    return limit


def _excess(snapshot, limit):
    """What the replay reserves over the limit, with what is live at its peak; None within it."""
    answer = memreplay.replay(snapshot)
    runs = [run for result in answer.get("results", [answer]) for run in result["runs"]]
    peak = max((run["peak_reserved_bytes"] for run in runs), default=0)
    if peak <= limit:
        return None
    explained = memreplay.explain(snapshot, at="reserved-peak").text()
    return f"reserves {peak} bytes of GPU memory, over the limit of {limit}\n\n{explained}"
