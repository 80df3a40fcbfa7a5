"""Makes a recording of a capture of memray, read by memray's own FileReader: its format changes by version."""
import argparse
import csv
import itertools
import sys


class Blocks:
    """What is live, by address; ranges that are mapped apart, since part of one may be unmapped."""

    def __init__(self, write):
        self.write, self.ids, self.live, self.mapped, self.unknown = write, itertools.count(), {}, {}, 0

    def allocate(self, blocks, address, size, thread, place):
        number = next(self.ids)
        blocks[address] = number, size, place
        self.write(("a", number, size, thread, place))

    def free(self, blocks, address, thread):
        number, size, place = blocks.pop(address)
        self.write(("f", number, "", thread, ""))
        return size, place

    def free_block(self, address, thread):
        if address in self.live:
            self.free(self.live, address, thread)
        else:
            self.unknown += 1

    def unmap(self, start, length, thread):
        end = start + length
        for address in [a for a, (_, size, _) in self.mapped.items() if a < end and start < a + size]:
            size, place = self.free(self.mapped, address, thread)
            for part, behind in ((address, start), (end, address + size)):
                if part < behind:
                    self.allocate(self.mapped, part, behind - part, thread, place)


def place_of(record):
    for function, file, line in record.stack_trace(max_stacks=1):
        return f"{file}:{line} {function}"
    return ""


def main(arguments):
    parser = argparse.ArgumentParser(prog="python -m memreplay convert-memray", description=__doc__)
    parser.add_argument("capture", help="what memray run wrote")
    parser.add_argument("recording", nargs="?", default="-", help="a CSV for memreplay; default: standard output")
    options = parser.parse_args(arguments)
    try:
        from memray import AllocatorType, FileReader
    except ImportError:
        return "convert-memray needs memray, which wrote the capture: pip install memray"
    kinds = {kind.value: kind.name for kind in AllocatorType}
    out = sys.stdout if options.recording == "-" else open(options.recording, "w", newline="")
    with FileReader(options.capture) as reader, out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(("op", "id", "size", "thread", "tag", "device"))
        blocks = Blocks(lambda row: rows.writerow((*row, -1)))
        for record in reader.get_allocation_records():
            kind = kinds[record.allocator]
            if kind == "MUNMAP":
                blocks.unmap(record.address, record.size, record.tid)
            elif kind.endswith("FREE"):
                blocks.free_block(record.address, record.tid)
            elif kind == "MMAP":
                blocks.unmap(record.address, record.size, record.tid)
                blocks.allocate(blocks.mapped, record.address, record.size, record.tid, place_of(record))
            else:
                blocks.allocate(blocks.live, record.address, record.size, record.tid, place_of(record))
    if blocks.unknown:
        print(f"{options.capture}: left out: {blocks.unknown} frees of blocks from before it", file=sys.stderr)
    return 0
