"""Looks at values that only kernels compute: what it finds is printed."""
import torch


def looked_at(tensor):
    return tensor.sum().item()


numbers = torch.ones(4, device="cuda")
for _ in range(3):
    print(looked_at(numbers))
print("done")
