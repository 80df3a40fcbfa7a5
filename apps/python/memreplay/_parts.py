"""Parts of the answer of `ranks`, as values: merging wants files."""
import os
import tempfile

from ._answer import Answer
from ._errors import InputError
from ._question import Question


def merged(parts, options):
    """One answer of parts: answers, the bytes of their JSON or its paths. Of answers the notes stay."""
    with tempfile.TemporaryDirectory(prefix="memreplay-") as folder:
        files = [_file_of(part, os.path.join(folder, str(i))) for i, part in enumerate(parts)]
        try:
            answer = Answer(Question("ranks", files, options))
        except InputError as error:
            if folder not in error.path:
                raise
            raise InputError("<parts>", error.place, error.message) from None
    said = [note for part in parts if isinstance(part, Answer) for note in part.notes]
    answer.notes = sorted(note for note in said if note not in answer.notes) + answer.notes
    return answer


def _file_of(part, path):
    if isinstance(part, Answer):
        part = part.json_text.encode()
    if not isinstance(part, (bytes, bytearray, memoryview)):
        return part
    with open(path, "wb") as file:
        file.write(part)
    return path
