"""Takes memory until there is none, lets go of it, and goes on with smaller parts."""
import torch

kept = []
try:
    while True:
        kept.append(torch.empty(1 << 30, dtype=torch.uint8, device="cuda"))
except torch.cuda.OutOfMemoryError as error:
    assert "Tried to allocate 1024.00 MiB" in str(error) or "Tried to allocate 1.00 GiB" in str(error), error
taken = len(kept)
assert 30 <= taken <= 40, taken
kept.clear()
for part in range(2 * taken):
    kept.append(torch.empty(1 << 29, dtype=torch.uint8, device="cuda"))
print("done")
