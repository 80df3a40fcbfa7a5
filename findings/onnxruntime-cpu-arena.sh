#!/bin/sh
# ONNX Runtime 1.32.0, CPU: a provider takes options of an arena that it does not have, without a word.
# Seen: with {"arena_extend_strategy": "kSameAsRequested", "max_mem": 8 MiB, "gpu_mem_limit": 8 MiB} the log has
# "memory limit: 18446744073709551615 arena_extend_strategy: 0", as without options, and a matrix product that needs
# 13.7 MiB runs. The same two in an OrtArenaCfg of a registered allocator hold: it is refused.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet onnxruntime==1.32.0 onnx==1.23.2 numpy
cat > "$work/arena.py" <<'PYTHON'
import sys

import numpy
import onnxruntime
from onnx import TensorProto, helper

shapes = {"x": ["n", 1200], "y": [1200, 1200], "z": ["n", 1200]}
x, y, z = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items())
nodes = [helper.make_node("MatMul", ["x", "y"], ["a"]), helper.make_node("Relu", ["a"], ["b"]), helper.make_node("MatMul", ["b", "y"], ["z"])]
model = helper.make_model(helper.make_graph(nodes, "g", [x, y], [z]), opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
limit = 8 << 20
provider = {"arena_extend_strategy": "kSameAsRequested", "max_mem": str(limit), "gpu_mem_limit": str(limit)}
options = onnxruntime.SessionOptions()
options.log_severity_level = 0
onnxruntime.set_default_logger_severity(0)
if sys.argv[1] == "registered":
    memory = onnxruntime.OrtMemoryInfo("Cpu", onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, onnxruntime.OrtMemType.DEFAULT)
    onnxruntime.create_and_register_allocator(memory, onnxruntime.OrtArenaCfg({"arena_extend_strategy": 1, "max_mem": limit}))
    options.add_session_config_entry("session.use_env_allocators", "1")
providers = [("CPUExecutionProvider", provider if sys.argv[1] == "provider" else {})]
session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=providers)
try:
    session.run(None, {"x": numpy.ones((1500, 1200), numpy.float32), "y": numpy.ones((1200, 1200), numpy.float32)})
    print("RAN")
except Exception as error:
    print("REFUSED", error)
PYTHON
said() {  # the arena's settings, and whether the product ran
  "$work/venv/bin/python" "$work/arena.py" "$1" 2>&1 |
    grep -oE 'memory limit: [0-9]+ arena_extend_strategy: [01]|^RAN|^REFUSED|Available memory of [0-9]+ is smaller' | sort -u | paste -sd ';' -
}
none=$(said none) provider=$(said provider) registered=$(said registered)
echo "without options:        $none"
echo "options of a provider:  $provider"
echo "registered allocator:   $registered"
[ "$provider" = "$none" ]
[ "$provider" = "RAN;memory limit: 18446744073709551615 arena_extend_strategy: 0" ]
case $registered in
  *"REFUSED"*"memory limit: 8388608 arena_extend_strategy: 1"*) ;;
  *) exit 1 ;;
esac
