"""Multi-layer perceptrons as GPUMemNet trained them; a program follows from its name in the published table.

Usage: mlp.py NAME...

Prints for each name the peaks of reserved and allocated memory in bytes. The program of github.com/itu-rad/GPUMemNet, written
anew: a name without an activation is of its first generation (ReLU, no softmax at the end), 4,096 samples make an epoch, and
the last batch of it is what is left. Of a single output it is not known whether a sigmoid stood there: ours has none.
"""
import re
import sys

import torch
from torch import nn

SAMPLES, EPOCHS = 4096, 2
NAME = re.compile(r"input:(?P<input>\d+)_output:(?P<output>\d+)_depth:(?P<depth>\d+)_arch:(?P<shape>\w+?)_batch:(?P<batch>\d+)"
                  r"(?:_act:(?P<activation>\w+?)_dropout:(?P<rate>[\d.]+)_dropout:(?P<drops>\w+)_batchnorm:(?P<norms>\w+))?\.out")
ACTIVATIONS = {"relu": nn.ReLU, "leaky_relu": nn.LeakyReLU, "prelu": nn.PReLU, "elu": nn.ELU, "selu": nn.SELU, "tanh": nn.Tanh,
               "softplus": nn.Softplus, "swish": nn.SiLU, "mish": nn.Mish, "gelu": nn.GELU, "identity": nn.Identity}


def widths(shape, first, last, depth):
    """How wide each hidden layer is."""
    if shape == "uniform":
        return [first] * depth
    found = [first]
    for _ in range(depth + (shape == "bottleneck")):
        narrower = found[-1] - (first - last) // depth if shape == "gradual" else found[-1] // 2
        found.append(max(narrower, last))
    return found[1:]


def network(told):
    first, last = int(told["input"]), int(told["output"])
    layers, width = [nn.Flatten()], first
    for wide in widths(told["shape"], first, last, int(told["depth"])):
        layers.append(nn.Linear(width, wide))
        if told["norms"] == "True":
            layers.append(nn.BatchNorm1d(wide))
        layers.append(ACTIVATIONS[told["activation"] or "relu"]())
        if told["drops"] == "True":
            layers.append(nn.Dropout(float(told["rate"])))
        width = wide
    layers.append(nn.Linear(width, last))
    if told["activation"] and last > 1:
        layers.append(nn.Softmax(dim=1))
    return nn.Sequential(*layers)


def trained(told):
    model = network(told).to("cuda")
    # The summary that was printed first ran two samples forward.
    model(torch.zeros(2, 1, int(told["input"])).to("cuda"))
    classes = int(told["output"])
    criterion = nn.CrossEntropyLoss() if classes > 1 else nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(model.parameters())
    dataset = torch.utils.data.TensorDataset(torch.zeros(SAMPLES, int(told["input"])), torch.zeros(SAMPLES, dtype=torch.long))
    for _ in range(EPOCHS):
        for inputs, labels in torch.utils.data.DataLoader(dataset, batch_size=int(told["batch"])):
            inputs, labels = inputs.to("cuda"), labels.to("cuda")
            optimizer.zero_grad()
            outputs = model(inputs)
            if classes == 1:
                labels = labels.view(-1, 1).float()
            loss = criterion(outputs, labels)
            loss.backward()
            optimizer.step()
            loss.item()


def main():
    for name in sys.argv[1:]:
        trained(NAME.match(name).groupdict())
        print("peaks", name, torch.cuda.max_memory_reserved(), torch.cuda.max_memory_allocated(), flush=True)
        torch._C._cuda_clearCublasWorkspaces()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


if __name__ == "__main__":
    main()
