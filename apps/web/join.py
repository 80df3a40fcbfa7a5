#!/usr/bin/env python3
"""Puts the page together: texts in the place of their names in page.html, the program and an example packed.

Usage: join.py --version V --to F.html NAME=FILE[,FILE]... --packed NAME=FILE...
"""
import argparse
import base64
import gzip
import pathlib


def text_of(paths):
    return "".join(pathlib.Path(path).read_text(encoding="utf-8") for path in paths.split(","))


def packed(path):
    return base64.b64encode(gzip.compress(pathlib.Path(path).read_bytes(), 9, mtime=0)).decode("ascii")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--version", required=True)
    parser.add_argument("--to", type=pathlib.Path, required=True)
    parser.add_argument("--page", type=pathlib.Path, required=True)
    parser.add_argument("--packed", action="append", default=[])
    parser.add_argument("texts", nargs="*")
    asked = parser.parse_args()
    values = {"version": asked.version}
    values |= {name: text_of(paths) for name, _, paths in (text.partition("=") for text in asked.texts)}
    values |= {name: packed(path) for name, _, path in (part.partition("=") for part in asked.packed)}
    begin, *parts = asked.page.read_text(encoding="utf-8").split("{{")
    page = begin
    for part in parts:
        name, _, rest = part.partition("}}")
        page += values[name] + rest
    asked.to.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
