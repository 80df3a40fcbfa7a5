"""every strategy on three random loads, `bfc` beside the original"""
from peers import original_bfc, replay_case
from processes import answer

LOADS = {"2k": (2_000, 6, 20), "50k": (50_000, 6, 17), "200": (200, 10, 24)}  # live blocks: powers of two
WRAPPERS = {"hybrid": "hybrid(bfc,torch):static=64MiB", "offload": "offload(torch)"}
NEED_MORE = {"recorded", "malloc", "cuda-direct"}  # a snapshot, real memory


def registered(program):
    names = [row["strategy"] for row in answer([program, "list", "strategies"])["strategies"]]
    return [WRAPPERS.get(name, name) for name in names if name not in NEED_MORE]


def cases(bench):
    for strategy in registered(bench.program):
        for name, blocks in LOADS.items():
            load = bench.random(*blocks)
            original = (lambda: original_bfc(bench.bfc, load)) if bench.bfc and strategy == "bfc" else None
            yield replay_case(bench, f"strategies/{strategy}/{name}", load, strategy, original=original)
