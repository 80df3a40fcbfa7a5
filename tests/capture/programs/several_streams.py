"""Copies to the device on a stream of their own, while another computes; blocks used by both."""
import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1024)).cuda()
copies = torch.cuda.Stream()
computes = torch.cuda.Stream()
host = torch.randn(256, 1024).pin_memory()
for step in range(6):
    with torch.cuda.stream(copies):
        batch = host.to("cuda", non_blocking=True)
    computes.wait_stream(copies)
    with torch.cuda.stream(computes):
        loss = model(batch).sum()
        loss.backward()
    batch.record_stream(computes)
    del batch, loss
    model.zero_grad()
torch.cuda.synchronize()
print("done")
