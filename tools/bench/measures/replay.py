"""`torch` under its settings, on random requests, over many streams, and on recordings in a loop"""
from peers import original_torch, replay_case
from processes import replayed

RANDOM = {"5k": (5_000, 9, 26), "100k": (100_000, 7, 16), "500k": (500_000, 9, 24)}  # live blocks: powers of two
PLAIN = {"torch": "torch", "expandable": "torch:expandable_segments=True"}
LIMITED = {"max-split": "torch:max_split_size_mb=32"}
STREAMS = (8, 64, 1024)
COLLECTING = "torch:garbage_collection_threshold=0.8,per_process_memory_fraction=0.9"


def case(bench, name, load, strategy, capacity_mib=None):
    original = lambda: original_torch(bench.oracle, load, strategy, capacity_mib)
    return replay_case(bench, f"replay/{name}", load, strategy, capacity_mib, original if bench.oracle else None)


def cases(bench):
    for blocks_name, blocks in RANDOM.items():
        load = bench.random(*blocks)
        for name, strategy in (PLAIN | LIMITED).items():
            yield case(bench, f"random-{blocks_name}/{name}", load, strategy)
        # Near enough to the peak for a collecting allocator to collect, far enough not to fail.
        near_peak_mib = replayed(bench.program, load.csv, "torch")["peak_reserved_bytes"] * 115 // 100 // 2**20
        yield case(bench, f"random-{blocks_name}/collecting", load, COLLECTING, near_peak_mib)
    for streams in STREAMS:
        yield case(bench, f"streams-{streams}/torch", bench.random(1_000, 9, 22, 100_000, streams), "torch")
    for recording in bench.recordings:
        for name, strategy in PLAIN.items():
            yield case(bench, f"{recording.stem.split('-')[0]}/{name}", bench.looped(recording), strategy)
