"""import memreplay.auto: records this program's GPU memory, and says at its end, or when memory runs out, why.

For programs whose command cannot be changed; `python -m memreplay run` does more.
"""
from ._recorder import Recorder, rank, say

TUNING_SECONDS = 20


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


Recorder(lambda: f"memreplay_rank{rank()}.pickle", on_finish=_tell).watch_for_torch()
