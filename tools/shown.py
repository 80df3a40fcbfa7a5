"""Compares what a document shows with what a program printed, figures of time apart.

Masked on both sides, because they differ from run to run: numbers followed by a unit of time
("0.3 s", "58 ns", "2.1 M events/s"), the values of JSON keys that hold times, and whatever stands
under the table heading `ns/op`. A shown line `...` stands for any number of lines.
"""
import re

TIMES = [
    (re.compile(r"\d[\d.,]*(?:e[+-]?\d+)?(?= ?(?:ns|us|ms|s|[kM]? ?events/s)\b)"), "#"),
    (re.compile(r'("(?:replay_seconds|events_per_second|seconds|mean|p50|p99|max)": )[\d.e+-]+'), r"\1#"),
]
HEADING = "ns/op"


def mask_column(lines):
    """Replaces what stands under HEADING, down to the next empty line."""
    end = None
    for line in lines:
        if HEADING in line:
            end = line.index(HEADING) + len(HEADING)
        elif end is not None and not line.strip():
            end = None
        elif end is not None and len(line) >= end - 1:
            # Right-aligned: the value is the word that ends where the heading ends.
            start = line.rfind(" ", 0, end) + 1
            if re.fullmatch(r"[\d.,-]+", line[start:end]):
                line = line[:start].rstrip() + " #" + line[end:]
        yield line


def masked(text):
    for line in mask_column(text.splitlines()):
        plain = line
        for pattern, replacement in TIMES:
            plain = pattern.sub(replacement, plain)
        # A figure that is longer or shorter moves its neighbours.
        yield re.sub(r" +", " ", plain).rstrip() if plain != line or "#" in line else line.rstrip()


def matches(shown, actual):
    return match_lines(list(masked(shown)), list(masked(actual)))


def match_lines(shown, actual):
    if not shown:
        return not actual
    if shown[0].strip() == "...":
        return any(match_lines(shown[1:], actual[skipped:]) for skipped in range(len(actual) + 1))
    return bool(actual) and shown[0] == actual[0] and match_lines(shown[1:], actual[1:])
