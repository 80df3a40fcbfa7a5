"""Two ranks map each other's memory, and reduce over it."""
import os

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symmetric

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl")
group = dist.group.WORLD.group_name
mine = symmetric.empty(1 << 24, dtype=torch.float32, device=f"cuda:{rank}")
handle = symmetric.rendezvous(mine, dist.group.WORLD)
theirs = handle.get_buffer(1 - rank, (1 << 24,), torch.float32)
theirs.fill_(1)
torch.ops.symm_mem.one_shot_all_reduce(mine, "sum", group)
torch.ops.symm_mem.two_shot_all_reduce_(mine, "sum", group)
torch.cuda.synchronize()
print(f"rank {handle.rank} of {handle.world_size}: {theirs.numel()} of the other's", flush=True)
dist.destroy_process_group()
