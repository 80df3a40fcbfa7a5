#!/bin/sh
# JAX 0.10.2, CPU: peak_memory_in_bytes of a compiled program leaves its temporary buffers out.
# Seen: of the gradient of four layers memory_analysis() states 6,291,456 bytes of arguments, 2,097,152 of outputs and
# 8,388,608 of temporary buffers, and as the peak 8,388,608: arguments and outputs alone, half of what it needs.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet jax==0.10.2 jaxlib==0.10.2
JAX_PLATFORMS=cpu "$work/venv/bin/python" - <<'PYTHON'
import sys

import jax
import jax.numpy as jnp


def loss(x, w):
    for _ in range(4):
        x = jnp.sin(x @ w)
    return x.sum()


compiled = jax.jit(jax.grad(loss)).lower(jnp.ones((512, 1024)), jnp.ones((1024, 1024))).compile()
stats = compiled.memory_analysis()
arguments, outputs, temporary = stats.argument_size_in_bytes, stats.output_size_in_bytes, stats.temp_size_in_bytes
print(f"jax {jax.__version__}: arguments {arguments:,}, outputs {outputs:,}, temporary {temporary:,}, stated peak {stats.peak_memory_in_bytes:,}")
sys.exit(0 if temporary > 0 and stats.peak_memory_in_bytes == arguments + outputs else 1)
PYTHON
