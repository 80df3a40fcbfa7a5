"""Questions: a command of the command line, whose options are keyword arguments here."""
import os
from collections.abc import Mapping

from . import _memreplay
from ._errors import InputError, UnknownOption

# What may be given as a list has a plural too.
PLURALS = {"strategies": "strategy", "phases": "phase", "metrics": "metric", "edits": "edit", "devices": "device"}
# How the answer is printed; here it is an object.
NOT_HERE = {"json", "csv", "markdown", "quiet", "color", "plot", "help", "help_all"}
UNUSABLE = 2


def _words(value):
    """One value of an option, as the command line has it."""
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def arguments_of(keywords):
    """The keywords as arguments: capacity="24GiB" is --capacity=24GiB, a list repeats the option, {"a": 1} is a=1."""
    arguments = []
    for keyword, value in keywords.items():
        option = "--" + PLURALS.get(keyword, keyword).rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            arguments.append(option)
            continue
        if isinstance(value, Mapping):
            value = [f"{name}={_words(one)}" for name, one in value.items()]
        for one in value if isinstance(value, (list, tuple, set, frozenset)) else [value]:
            arguments.append(f"{option}={_words(one)}")
    return arguments


class Question:
    """A command, its recordings and what is asked of them. May be asked again."""

    def __init__(self, command, traces, keywords):
        self.command, self.keywords = command, dict(keywords)
        for keyword in keywords:
            if keyword in NOT_HERE:
                raise TypeError(f"{command}() got an unexpected keyword argument '{keyword}'")
        self.sources = {}
        self.names = [self._name_of(trace) for trace in traces]
        self.varied = []  # names that stand in the keyword vary
        if isinstance(keywords.get("vary"), Mapping):
            self.keywords["vary"] = list(self._vary(keywords["vary"]))

    def _vary(self, vary):
        """{"batch": {4: TRACE, 8: TRACE}} as the command line has it."""
        for name, traces in vary.items():
            if not isinstance(traces, Mapping):
                raise TypeError(f"{self.command}() takes vary={{'{name}': {{4: trace, 8: trace}}}}, a trace for each value")
            for value, trace in traces.items():
                self.varied.append(self._name_of(trace))
                yield f"{name}={value}:{self.varied[-1]}"

    def _name_of(self, trace):
        if isinstance(trace, (str, os.PathLike)):
            path = os.fspath(trace)
            if isinstance(path, bytes):
                path = os.fsdecode(path)
            return f"./{path}" if path.startswith("-") else path  # neither an option nor standard input
        kind = "bytes" if isinstance(trace, (bytes, bytearray, memoryview)) else "snapshot"
        number = 1 + sum(name.startswith(f"<{kind}") for name in self.sources)
        name = f"<{kind}>" if number == 1 else f"<{kind} {number}>"
        if kind == "bytes":
            self.sources[name] = _memreplay.source_of_bytes(bytes(trace))
        elif isinstance(trace, (dict, list)):
            self.sources[name] = _memreplay.source_of_snapshot(trace, name)
        else:
            raise TypeError(
                f"{self.command}() takes a path, the bytes of a recording or what torch.cuda.memory._snapshot() "
                f"returns, not {type(trace).__name__}")
        return name

    def ask(self):
        """What the command came to. Raises Error, KeyboardInterrupt, TypeError for a keyword that it does not know."""
        # A name may hold any byte.
        arguments = [os.fsencode(word) for word in (*arguments_of(self.keywords), "--", *self.names)]
        try:
            ran = _memreplay.run(self.command, arguments, self.sources)
        except UnknownOption as unknown:
            raise TypeError(self._unexpected(unknown)) from None
        if ran.status == UNUSABLE and ran.json is None:
            raise InputError(", ".join(self.names + self.varied), "", "\n".join(ran.notes))
        return ran

    def _unexpected(self, unknown):
        def keyword(option):
            return option.lstrip("-").replace("-", "_")

        text = f"{self.command}() got an unexpected keyword argument '{keyword(unknown.name)}'"
        if unknown.nearest and keyword(unknown.nearest) not in NOT_HERE:
            text += f"; did you mean '{keyword(unknown.nearest)}'?"
        return text

    def about(self, command, trace, **keywords):
        """Another question about one of the recordings, on the same device."""
        same = ON_THE_SAME_DEVICE | ({"vary", "at"} if self.predicts() else set())
        kept = {key: value for key, value in self.keywords.items() if key in same}
        other = Question(command, [], {**kept, **keywords})
        other.names, other.sources = [] if self.predicts() else [trace], self.sources
        return other

    def predicts(self):
        """It is about a program at a value at which it was not recorded."""
        return bool(self.keywords.get("vary"))


ON_THE_SAME_DEVICE = {
    "gpu", "format", "columns", "process", "reader", "torch_version", "capacity", "reserve", "granularity",
    "address_policy", "address_gap", "address_space", "start", "ignore_empty_cache", "edit", "edits"}
