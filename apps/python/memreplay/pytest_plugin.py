"""pytest: tests that say how much GPU memory they may take.

    @pytest.mark.limit_gpu_memory("24GiB")
    def test_training_step(): ...
"""
import pytest

import memreplay
from memreplay._memreplay import parse_size


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "limit_gpu_memory(size): fails a test whose allocations reserve more than size, such as '24GiB'; "
        "skips it where there is no CUDA device")


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
    if item.get_closest_marker("limit_gpu_memory") and _cuda() is None:
        pytest.skip("limit_gpu_memory: no CUDA device to record")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    marker = item.get_closest_marker("limit_gpu_memory")
    if marker is None:
        yield
        return
    limit = _bytes(marker.args[0])
    torch = _cuda()
    _record(torch)
    outcome = yield
    snapshot = torch.cuda.memory._snapshot()
    torch.cuda.memory._record_memory_history(enabled=None)
    excess = None if outcome.excinfo else _excess(snapshot, limit)
    if excess:
        outcome.force_exception(pytest.fail.Exception(excess, pytrace=False))


def _bytes(size):
    limit = parse_size(str(size).replace(" ", ""))
    if limit is None:
        raise pytest.UsageError(f"limit_gpu_memory({size!r}): expected a size such as '24GiB'")
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
