"""The same layers under DDP and then sharded by FSDP, on as many devices as there are processes.

To be run by torchrun."""
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

try:
    from torch.distributed.fsdp import fully_shard
except ImportError:  # torch 2.4
    from torch.distributed._composable.fsdp import fully_shard


def layers():
    return nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(8)]).cuda()


def train(model):
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(3):
        model(torch.randn(32, 1024, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


dist.init_process_group("nccl")
rank = dist.get_rank()
torch.cuda.set_device(rank)
torch.manual_seed(1)
train(DistributedDataParallel(layers(), device_ids=[rank]))
sharded = layers()
for layer in sharded:
    fully_shard(layer)
train(fully_shard(sharded) or sharded)
dist.barrier()
dist.destroy_process_group()
print("done")
