#!/bin/sh
# cuDNN 9.26.0 is asked about a card that is only described to it (its "deviceless" mode, which needs no GPU): for
# attention its heuristics announce three engines, and give none where no libcuda.so.1 can be opened.
# Seen: 3 announced, 0 given, with the success of every call; a log alone says that a run-time prerequisite is missing.
# Where a library of that name can be opened all three are given, though nothing is loaded or compiled for the list. (On
# a machine with a driver this cannot be seen, and the script says so.)
set -eu
if python3 -c "import ctypes; ctypes.CDLL('libcuda.so.1')" 2> /dev/null; then
  echo "a driver is installed here: not seen"
  exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --no-deps nvidia-cudnn-cu13==9.26.0.51
cat > "$work/ask.py" <<'PYTHON'
import ctypes
import glob
import json
import struct
import sys

# By cudnn_graph.h: kinds of descriptors, names of attributes, types of values.
CONFIGURATION, HEURISTIC, GRAPH, TENSOR, DEVICE, SDPA, SOFTMAX = 3, 4, 15, 17, 38, 41, 45
DATA_TYPE, BOOLEAN, INT64, MODE, DESCRIPTOR, CHAR = 1, 2, 3, 8, 15, 24
FLOAT, HALF, PREFERRED_FIRST = 0, 2, 3

cudnn = ctypes.CDLL(glob.glob(sys.prefix + "/**/libcudnn.so.9", recursive=True)[0])


def succeeded(status):
    if status != 0:
        sys.exit(f"cuDNN says {status}")


def empty(kind):
    descriptor = ctypes.c_void_p()
    succeeded(cudnn.cudnnBackendCreateDescriptor(kind, ctypes.byref(descriptor)))
    return descriptor


def made(kind, *attributes):
    descriptor = empty(kind)
    for name, of, count, value in attributes:
        succeeded(cudnn.cudnnBackendSetAttribute(descriptor, name, of, ctypes.c_int64(count), value))
    succeeded(cudnn.cudnnBackendFinalize(descriptor))
    return descriptor


def parts(*named):
    return [(name, DESCRIPTOR, 1, struct.pack("P", part.value)) for name, part in named]


def tensor(number, sizes, element, *more):
    strides = [1]
    for size in reversed(sizes[1:]):
        strides.insert(0, strides[0] * size)
    return made(TENSOR, (900, INT64, 1, struct.pack("q", 16)), (901, DATA_TYPE, 1, struct.pack("i", element)),
                (902, INT64, 4, struct.pack("4q", *sizes)), (903, INT64, 4, struct.pack("4q", *strides)),
                (906, INT64, 1, struct.pack("q", number)), *more)


query, key, value, result = (tensor(number, [2, 8, 128, 64], HALF) for number in range(4))
scores, weights = (tensor(number, [2, 8, 128, 128], FLOAT, (907, BOOLEAN, 1, b"\1")) for number in (4, 5))
scale = tensor(6, [1, 1, 1, 1], FLOAT, (908, BOOLEAN, 1, b"\1"))
statistics = tensor(7, [2, 8, 128, 1], FLOAT)
softmax = made(SOFTMAX, *parts((3100, scores), (3101, weights), (3102, statistics)))
attention = made(SDPA, *parts((2800, query), (2801, key), (2802, value), (2803, result), (2805, scale), (2814, softmax)))
graph = made(GRAPH, *parts((801, attention)))
card = json.dumps({
    "deviceName": "NVIDIA A100", "deviceVer": 800, "multiProcessorCount": 108, "warpSize": 32, "maxSharedMemoryPerBlock": 49152,
    "maxSharedMemoryPerBlockOptin": 166912, "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536,
    "regsPerBlock": 65536, "maxCtasPerSM": 32, "maxThreadsPerSM": 2048, "maxThreadsPerBlock": 1024,
    "totalGlobalMem": 42405462016, "smClockRateKHz": 1500000, "memClockRateKHz": 1500000, "memoryBusWidth": 5120,
    "l2CacheSize": 52428800, "supportCoopLaunch": 1, "isTccDriver": 0, "pciDeviceId": 0, "cudaDeviceId": 0,
    "driverVer": 13000, "maxBlockSize": [1024, 1024, 64], "maxGridSize": [2147483647, 65535, 65535]}).encode()
device = made(DEVICE, (2702, CHAR, len(card), card))
heuristic = made(HEURISTIC, *parts((201, graph), (204, device)), (200, MODE, 1, struct.pack("i", PREFERRED_FIRST)))

announced, given = ctypes.c_int64(), ctypes.c_int64()
succeeded(cudnn.cudnnBackendGetAttribute(heuristic, 202, DESCRIPTOR, ctypes.c_int64(0), ctypes.byref(announced), None))
room = (ctypes.c_void_p * announced.value)(*(empty(CONFIGURATION).value for _ in range(announced.value)))
succeeded(cudnn.cudnnBackendGetAttribute(heuristic, 202, DESCRIPTOR, announced, ctypes.byref(given), room))
cudnn.cudnnGetVersion.restype = ctypes.c_size_t
print(f"cuDNN {cudnn.cudnnGetVersion()}: {announced.value} engines announced, {given.value} given")
sys.exit(0 if announced.value == 3 and given.value == 0 else 1)
PYTHON
CUDNN_LOGLEVEL_DBG=2 CUDNN_LOGDEST_DBG="$work/log" "$work/venv/bin/python" "$work/ask.py"
grep --max-count=1 --only-matching "Cannot load CUDA driver library[^.]*" "$work/log"
