"""A trace of random requests, the same for a seed."""
import random


def write_trace(path, events, live_blocks, low, high, seed):
    """Sizes even in the exponent; up to `live_blocks` live, from then on one is allocated or freed at random."""
    rng = random.Random(seed)
    live = []
    with open(path, "w", encoding="ascii") as out:
        out.write("op,id,size\n")
        for event in range(events):
            if len(live) >= live_blocks or (live and rng.random() < 0.45):
                at = rng.randrange(len(live))
                live[at], live[-1] = live[-1], live[at]
                out.write(f"f,{live.pop()},\n")
            else:
                live.append(event)
                out.write(f"a,{event},{int(2 ** rng.uniform(low, high))}\n")
