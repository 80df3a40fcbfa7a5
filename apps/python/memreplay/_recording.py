"""A recorder of this process that says at its end what the recording tells."""
from ._recorder import Recorder, rank, say

DEFAULT_OUTPUT = "memreplay_rank{rank}.pickle"
TUNING_SECONDS = 20


def recorder_for(output=DEFAULT_OUTPUT, max_entries=1_000_000):
    """Writes to `output`, where {rank} is the number of this process among its peers."""
    return Recorder(lambda: output.replace("{rank}", str(rank())), max_entries=max_entries, on_finish=_tell)


def _tell(recorder):
    if recorder.torch is None:
        say("memreplay: the program never imported torch: nothing was recorded")
    elif recorder.process is None:
        say("memreplay: the program used no CUDA device: nothing was recorded")
    elif recorder.written:
        _answer(recorder.path)


def _answer(path):
    import memreplay

    say(f"memreplay: {path}")
    for question in (lambda: memreplay.explain(path).text(),
                     lambda: memreplay.tune(path, seconds=TUNING_SECONDS).sentence_of()):
        try:
            say(question().rstrip())
        except memreplay.Error as error:
            say(f"memreplay: {error}")
