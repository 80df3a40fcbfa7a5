"""Steps of timm's train.py with its defaults (SGD, label smoothing, cuDNN's benchmark, TF32) on images that hold nothing.

Usage: timm_step.py MODEL BATCH [STEPS]

Prints the peaks of reserved and allocated memory in bytes.
"""
import sys

import timm
import torch
from timm.data.loader import PrefetchLoader
from timm.loss import LabelSmoothingCrossEntropy
from timm.optim import create_optimizer_v2


class Images:
    """What PrefetchLoader needs of a loader."""
    dataset, sampler, collate_fn = (), None, None

    def __init__(self, shape, steps):
        self.shape, self.steps = shape, steps

    def __len__(self):
        return self.steps

    def __iter__(self):
        for _ in range(self.steps):
            yield torch.zeros(self.shape, dtype=torch.uint8), torch.zeros(self.shape[0], dtype=torch.long)


def main():
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.benchmark = True
    name, batch, steps = sys.argv[1], int(sys.argv[2]), int((sys.argv[3:] or [4])[0])
    model = timm.create_model(name).cuda()
    optimizer = create_optimizer_v2(model, opt="sgd", lr=.05, momentum=.9, weight_decay=2e-5)
    criterion = LabelSmoothingCrossEntropy(smoothing=.1).cuda()
    model.train()
    for images, labels in PrefetchLoader(Images((batch, *model.default_cfg["input_size"]), steps), channels=3):
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        loss.item()
        optimizer.zero_grad()
    torch.cuda.synchronize()
    print("peaks", f"{name}_{batch}", torch.cuda.max_memory_reserved(), torch.cuda.max_memory_allocated())


if __name__ == "__main__":
    main()
