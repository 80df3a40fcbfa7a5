"""Ranks that take a GiB each; what is then free of the card of the first one."""
import os

import torch
import torch.distributed as dist

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank % torch.cuda.device_count())
dist.init_process_group("cpu:gloo,cuda:nccl")
kept = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
dist.barrier(group=dist.new_group(backend="gloo"))
if rank == 0:
    print(f"free of {torch.cuda.device_count()} cards: {torch.cuda.mem_get_info()[0] / (1 << 30):.1f}")
dist.barrier(group=dist.new_group(backend="gloo"))
dist.destroy_process_group()
