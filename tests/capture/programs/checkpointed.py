"""Layers whose activations are computed again on the way back."""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(1)
layers = nn.ModuleList([nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True) for _ in range(6)]).cuda()
optimizer = torch.optim.Adam(layers.parameters())
for step in range(2):
    x = torch.randn(8, 128, 256, device="cuda")
    for layer in layers:
        x = checkpoint(layer, x, use_reentrant=False)
    x.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print("done")
