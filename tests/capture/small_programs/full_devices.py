"""Fills every device with parts of 10 GiB."""
import torch

kept = []
for device in range(torch.cuda.device_count()):
    try:
        while True:
            kept.append(torch.empty(10 << 30, dtype=torch.uint8, device=f"cuda:{device}"))
    except torch.cuda.OutOfMemoryError:
        pass
print("parts", len(kept), "on", torch.cuda.device_count())
print("done")
