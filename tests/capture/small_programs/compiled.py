"""torch.compile, with the worker processes that it starts by default."""
import os

import torch
from torch._inductor.async_compile import AsyncCompile


def add(x):
    return x.sin() + x.cos()


if __name__ == "__main__":
    torch.zeros(1, device="cuda")
    AsyncCompile.warm_pool()
    print("in a worker:", AsyncCompile.process_pool().submit(os.getpid).result() != os.getpid())
    print("computed:", torch.allclose(torch.compile(add)(torch.ones(64)), add(torch.ones(64))))
