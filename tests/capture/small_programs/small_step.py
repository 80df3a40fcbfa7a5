"""Two steps of one layer; an OOM is handled: what is left is freed, and they are done again."""
import torch
from torch import nn


def train():
    layer = nn.Linear(64, 64, device="cuda")
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(2):
        layer(torch.ones(8, 64, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


try:
    train()
    print("served")
except torch.cuda.OutOfMemoryError:
    print("handled")
    torch.cuda.empty_cache()
    train()
print("done")
