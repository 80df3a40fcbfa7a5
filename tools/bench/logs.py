"""One load as the logs of other tools: a line for each call, as those write it.

Run as a program it writes one of them, so that what it holds is not held by who measures.
"""
import argparse
import itertools

from loads import random_requests

BASE = 0x7F0000000000
THREADS = 4
PLACES = 64  # of a program, that allocate


def pointers(requests):
    """(block, pointer, size, True) of an allocation, and the same with False of its free. Pointers come again."""
    free, live, next_pointer = {}, {}, BASE
    for block, size in requests:
        if size is None:
            pointer, size = live.pop(block)
            free.setdefault(size.bit_length(), []).append(pointer)
            yield block, pointer, size, False
            continue
        reusable = free.get(size.bit_length())
        pointer = reusable.pop() if reusable else next_pointer
        if pointer == next_pointer:
            next_pointer += 1 << size.bit_length()
        live[block] = pointer, size
        yield block, pointer, size, True


def minimalloc(requests):
    begun, rows = {}, []
    for time, (block, _, size, allocates) in enumerate(pointers(requests)):
        if allocates:
            begun[block] = time, size
        else:
            lower, size = begun.pop(block)
            rows.append(f"{block},{lower},{time},{size}\n")
    return itertools.chain(["id,lower,upper,size\n"], rows)


def rmm(requests):
    yield "Thread,Time,Action,Pointer,Size,Stream\n"
    for event, (block, pointer, size, allocates) in enumerate(pointers(requests)):
        seconds, us = divmod(event, 1_000_000)
        yield (f"{7001 + block % THREADS},09:{seconds // 60 % 60:02}:{seconds % 60:02}.{us:06},"
               f"{'allocate' if allocates else 'free'},0x{pointer:x},{size},0\n")


def umpire(requests):
    yield ('{"category":"metadata","name":"version","numeric_args":{"major":2024,"minor":2,"patch":1},'
           '"string_args":{"rc":""},"tags":{},"timestamp":1700000000000000000}\n')
    yield ('{"category":"operation","name":"make_memory_resource","numeric_args":{"introspection":1},'
           '"string_args":{"allocator_ref":"0x61a0"},"tags":{"allocator_name":"DEVICE","replay":"true"},'
           '"timestamp":1700000000000001000}\n')
    for event, (_, pointer, size, allocates) in enumerate(pointers(requests)):
        name, size = ("allocate", f'"numeric_args":{{"size":{size}}},') if allocates else ("deallocate", "")
        yield (f'{{"category":"operation","name":"{name}",{size}"string_args":{{"allocator_ref":"0x61a0",'
               f'"pointer":"0x{pointer:x}"}},"tags":{{"replay":"true"}},"timestamp":{1_700_000_000_000_002_000 + event}}}\n')


def heaptrack(requests):
    yield "v 10500 3\nX 7 program\nI 1000 3f5a2\nt 4011d0 0\nt 401250 1\n"
    for event, (_, pointer, size, allocates) in enumerate(pointers(requests)):
        if event % 10_000 == 0:
            yield f"c {event // 1000:x}\n"
        yield f"+ {size:x} 2 {pointer:x}\n" if allocates else f"- {pointer:x}\n"


def heaptrack_interpreted(requests):
    """A program has few kinds of allocations, some sizes at each of its places, beside its calls."""
    yield "v 10500 3\nX 7 program\nI 1000 3f5a2\ns 7 program\ns 4 main\n"
    for place in range(1, PLACES + 1):
        yield f"i {0x4011c0 + 16 * place:x} 1 2\nt {place:x} 0\n"
    kinds = {}
    for event, (block, _, size, allocates) in enumerate(pointers(requests)):
        kind = 1 << size.bit_length(), block % PLACES + 1
        if kind not in kinds:
            kinds[kind] = len(kinds)
            yield f"a {kind[0]:x} {kind[1]:x}\n"
        if event % 10_000 == 0:
            yield f"c {event // 1000:x}\n"
        yield f"{'+' if allocates else '-'} {kinds[kind]:x}\n"


def mtrace(requests):
    yield "= Start\n"
    for block, pointer, size, allocates in pointers(requests):
        yield (f"@ ./program:[0x{0x401136 + block % PLACES * 16:x}] "
               + (f"+ 0x{pointer:x} 0x{size:x}\n" if allocates else f"- 0x{pointer:x}\n"))


def stalloc(requests):
    for _, pointer, size, allocates in pointers(requests):
        yield f"{int(allocates)} 0x{pointer:x} {size} 0\n"


def kineto(requests):
    yield '{"schemaVersion": 1, "traceEvents": [\n'
    for event, (_, pointer, size, allocates) in enumerate(pointers(requests)):
        yield (f'{"," if event else " "}{{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 11, '
               f'"tid": 11, "ts": {1_700_000_000_000_000 + event}.250, "args": {{"Total Reserved": 0, "Total Allocated": 0, '
               f'"Bytes": {size if allocates else -size}, "Addr": {pointer}, "Device Id": 0, "Device Type": 1, '
               f'"Ev Idx": {event}}}}}\n')
    yield "]}\n"


def intervals(requests):
    return itertools.chain.from_iterable(
        [" ".join((row.split(",")[1], row.split(",")[2], row.split(",")[3]))]
        for row in itertools.islice(minimalloc(requests), 1, None))


def nsight(requests):
    yield "start,globalPid,deviceId,address,bytes,memKind,memoryOperationType,streamId,name\n"
    for event, (_, pointer, size, allocates) in enumerate(pointers(requests)):
        yield f"{1000 + event * 700},281475298820096,0,{pointer},{size},2,{int(not allocates)},13,\n"


WRITERS = {"minimalloc": minimalloc, "rmm": rmm, "umpire": umpire, "heaptrack": heaptrack,
           "heaptrack-interpreted": heaptrack_interpreted, "mtrace": mtrace, "stalloc": stalloc, "kineto": kineto,
           "intervals": intervals, "nsight": nsight}


def main():
    parser = argparse.ArgumentParser(description="Writes one random load as a log.")
    parser.add_argument("format", choices=WRITERS)
    parser.add_argument("log")
    parser.add_argument("--events", type=int, required=True)
    parser.add_argument("--random", type=int, nargs=3, metavar=("LIVE", "LOW", "HIGH"), default=(5_000, 9, 26))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    requests = random_requests(options.events, *options.random, options.seed)
    with open(options.log, "w", encoding="ascii") as log:
        log.writelines(WRITERS[options.format](requests))


if __name__ == "__main__":
    main()
