"""Trains a small model for some steps: one of the programs of predictions.tsv, in which one thing is changed.

Usage: trained.py MODEL [OPTION...]

Every layer is run by one function, so that an edit can name it. Under torchrun each rank trains a replica (DDP).
"""
import argparse
import contextlib
import os

import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd.graph import save_on_cpu
from torch.utils.checkpoint import checkpoint

VOCABULARY, CLASSES = 8000, 1000


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=["lm", "perceptron", "resnet"])
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--length", type=int, default=256, help="tokens, or the side of an image")
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--sgd", action="store_true")
    parser.add_argument("--checkpoint", choices=["all", "second", "pairs"])
    parser.add_argument("--offload", choices=["all", "layers"])
    parser.add_argument("--autocast", action="store_true")
    return parser.parse_args()


OPTIONS = parsed()


class Layer(nn.Module):
    """Attention and a perceptron, each behind a norm."""

    def __init__(self, width):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.packed, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        heads = (part.view(batch, length, 8, width // 8).transpose(1, 2) for part in self.packed(self.norms[0](x)).chunk(3, -1))
        mixed = F.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norms[1](x))))


class Model(nn.Module):
    def __init__(self, first, layers, last):
        super().__init__()
        self.first, self.layers, self.last = first, nn.ModuleList(layers), last

    def forward(self, x):
        return self.last(run(self.layers, self.first(x)))


def layer_of(layer, x):
    return layer(x)


def run(layers, x):
    size = 2 if OPTIONS.checkpoint == "pairs" else 1
    for i in range(0, len(layers), size):
        again = OPTIONS.checkpoint in ("all", "pairs") or (OPTIONS.checkpoint == "second" and i % 2 == 0)
        with save_on_cpu() if OPTIONS.offload == "layers" else contextlib.nullcontext():
            x = checkpoint(chain, layers[i:i + size], x, use_reentrant=False) if again else chain(layers[i:i + size], x)
    return x


def chain(layers, x):
    for layer in layers:
        x = layer_of(layer, x)
    return x


def residual_network():
    import torchvision
    net = torchvision.models.resnet50()
    blocks = [block for group in (net.layer1, net.layer2, net.layer3, net.layer4) for block in group]
    return Model(nn.Sequential(net.conv1, net.bn1, net.relu, net.maxpool), blocks, nn.Sequential(net.avgpool, nn.Flatten(), net.fc))


def built():
    width = OPTIONS.width
    if OPTIONS.model == "resnet":
        return residual_network()
    if OPTIONS.model == "perceptron":
        layers = (nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width), nn.LayerNorm(width)) for _ in range(8))
        return Model(nn.Linear(784, width), layers, nn.Linear(width, CLASSES))
    return Model(nn.Embedding(VOCABULARY, width), (Layer(width) for _ in range(6)),
                 nn.Sequential(nn.LayerNorm(width), nn.Linear(width, VOCABULARY, bias=False)))


def batch():
    rows, length = OPTIONS.batch, OPTIONS.length
    if OPTIONS.model == "resnet":
        return torch.randn(rows, 3, length, length, device="cuda"), torch.randint(0, CLASSES, (rows,), device="cuda")
    if OPTIONS.model == "perceptron":
        return torch.randn(rows * length, 784, device="cuda"), torch.randint(0, CLASSES, (rows * length,), device="cuda")
    return (torch.randint(0, VOCABULARY, (rows, length), device="cuda") for _ in range(2))


def step(model, optimizer):
    x, y = batch()
    optimizer.zero_grad()
    with (torch.autocast("cuda", torch.bfloat16, enabled=OPTIONS.autocast),
          save_on_cpu() if OPTIONS.offload == "all" else contextlib.nullcontext()):
        scores = model(x)
        loss = F.cross_entropy(scores.reshape(-1, scores.shape[-1]), y.reshape(-1))
    loss.backward()
    optimizer.step()


def main():
    if "RANK" in os.environ:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        torch.distributed.init_process_group("nccl")
    model = built().cuda()
    if torch.distributed.is_initialized():
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), 0.01) if OPTIONS.sgd else torch.optim.AdamW(model.parameters())
    for _ in range(OPTIONS.steps):
        step(model, optimizer)


if __name__ == "__main__":
    main()
