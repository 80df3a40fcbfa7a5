"""What goes wrong: an input that cannot be read, a question that means nothing."""


class Error(Exception):
    """Anything that memreplay refuses."""


class InputError(Error, ValueError):
    """A recording that cannot be read, or contradicts itself.

    path: the file, or what stands for it ("<snapshot>", "<bytes>")
    place: where in it ("14", "byte 48,211"); empty where there is none
    message: what is wrong, and what was expected
    """

    def __init__(self, path, place, message, text=None):
        super().__init__(path, place, message)
        self.path, self.place, self.message = path, place, message
        self._text = text or ": ".join(part for part in (path, place, message) if part)

    def __str__(self):
        return self._text


class UsageError(Error, ValueError):
    """A value that means nothing: an unknown strategy, a size that is none, options that do not go together."""


class UnknownOption(UsageError):
    """A keyword that the command line has no option for. Callers see a TypeError."""

    def __init__(self, text, name, nearest):
        super().__init__(text)
        self.name, self.nearest = name, nearest
