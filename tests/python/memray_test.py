"""python -m memreplay convert-memray: what is live where ranges are unmapped in part."""
import contextlib
import io
import sys
import types
import unittest

import support  # noqa: F401, finds the module of this build

from memreplay import _memray


class Kind:
    def __init__(self, value, name):
        self.value, self.name = value, name


KINDS = [Kind(5, "FREE"), Kind(6, "MALLOC"), Kind(14, "MMAP"), Kind(15, "MUNMAP")]


class Record:
    def __init__(self, kind, address, size=0):
        self.allocator = next(k.value for k in KINDS if k.name == kind)
        self.address, self.size, self.tid = address, size, 7

    def stack_trace(self, max_stacks):
        return [("work", "a.py", 3)][:max_stacks]


def converted(*records):
    """The rows that the records become, without the header."""
    class FileReader:
        def __init__(self, path):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def get_allocation_records(self):
            return iter(records)

    sys.modules["memray"] = types.SimpleNamespace(AllocatorType=KINDS, FileReader=FileReader)
    out, told = io.StringIO(), io.StringIO()
    out.close = lambda: None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(told):
        _memray.main(["capture.bin"])
    return out.getvalue().splitlines()[1:], told.getvalue()


class ConvertMemray(unittest.TestCase):
    def test_blocks_are_freed_by_their_addresses(self):
        rows, told = converted(Record("MALLOC", 16, 100), Record("FREE", 16), Record("FREE", 32))
        self.assertEqual(rows, ["a,0,100,7,a.py:3 work,-1", "f,0,,7,,-1"])
        self.assertIn("1 frees of blocks from before it", told)

    def test_what_is_unmapped_in_part_leaves_the_rest(self):
        rows, _ = converted(Record("MMAP", 4096, 12288), Record("MUNMAP", 8192, 4096), Record("MUNMAP", 0, 1 << 20))
        self.assertEqual([row.split(",")[:3] for row in rows],
                         [["a", "0", "12288"], ["f", "0", ""], ["a", "1", "4096"], ["a", "2", "4096"], ["f", "1", ""], ["f", "2", ""]])


if __name__ == "__main__":
    unittest.main()
