"""Three blocks to a segment, two of them freed, then one that is larger than any hole: enough is free, but not in one
piece."""
import torch

MIB = 1 << 20


def allocate(size):
    return torch.empty(size, dtype=torch.uint8, device="cuda")


def main():
    blocks = [allocate(6 * MIB) for _ in range(900)]
    kept = blocks[::3]
    del blocks
    kept.append(allocate(2000 * MIB))


main()
