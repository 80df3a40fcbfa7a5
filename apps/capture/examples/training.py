"""A transformer trained for two steps: what does the batch cost, and what does checkpointing save?"""
import argparse

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


def train(batch, checkpointing):
    layers = nn.ModuleList(
        nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True) for _ in range(12)).cuda()
    optimizer = torch.optim.AdamW(layers.parameters())
    for _ in range(2):
        x = torch.randn(batch, 512, 1024, device="cuda")
        for layer in layers:
            x = checkpoint(layer, x, use_reentrant=False) if checkpointing else layer(x)
        x.sum().backward()
        optimizer.step()
        optimizer.zero_grad()


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--checkpointing", choices=["no", "yes"], default="no")
asked = parser.parse_args()
train(asked.batch, asked.checkpointing == "yes")
