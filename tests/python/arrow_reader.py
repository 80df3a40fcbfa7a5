"""Reads the Arrow C stream interface with ctypes alone: what a consumer that is not ours sees."""
import ctypes

SIZES = {b"l": ctypes.c_int64, b"g": ctypes.c_double}


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(Schema))), ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))), ("private_data", ctypes.c_void_p)]
Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))), ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))), ("private_data", ctypes.c_void_p)]
Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))), ("private_data", ctypes.c_void_p)]


def _values(schema, array):
    rows = array.length
    valid = ctypes.cast(array.buffers[0], ctypes.POINTER(ctypes.c_uint8))
    if schema.format == b"U":
        offsets = ctypes.cast(array.buffers[1], ctypes.POINTER(ctypes.c_int64))
        values = [ctypes.string_at(array.buffers[2] + offsets[i], offsets[i + 1] - offsets[i]).decode() for i in range(rows)]
    else:
        values = ctypes.cast(array.buffers[1], ctypes.POINTER(SIZES[schema.format]))
    return [values[i] if valid[i // 8] >> i % 8 & 1 else None for i in range(rows)]


def read(producer):
    """The columns by name, and their formats."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = producer.__arrow_c_stream__()
    stream = ctypes.cast(pointer(capsule, b"arrow_array_stream"), ctypes.POINTER(Stream)).contents
    schema, array, end = Schema(), Array(), Array()
    assert stream.get_schema(stream, schema) == 0 and schema.format == b"+s"
    assert stream.get_next(stream, array) == 0 and stream.get_next(stream, end) == 0 and not end.release
    columns, formats = {}, {}
    for i in range(schema.n_children):
        child, values = schema.children[i].contents, array.children[i].contents
        assert values.length == array.length
        name = child.name.decode()
        formats[name], columns[name] = child.format.decode(), _values(child, values)
        assert values.null_count == columns[name].count(None)
    stream.release(stream)  # what it gave outlives it
    for given in (schema, array):
        given.release(given)
        assert not given.release
    return columns, formats
