"""Two captured graphs that share a private pool, replayed beside ordinary work."""
import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512)).cuda()
given = torch.zeros(64, 512, device="cuda")
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        model(given).sum().backward()
torch.cuda.current_stream().wait_stream(side)
model.zero_grad()

pool = torch.cuda.graph_pool_handle()
forward, backward = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
with torch.cuda.graph(forward, pool=pool):
    loss = model(given).sum()
with torch.cuda.graph(backward, pool=pool):
    loss.backward()
for step in range(4):
    given.copy_(torch.randn(64, 512, device="cuda"))
    forward.replay()
    backward.replay()
    torch.cuda.synchronize()
del loss, forward, backward
torch.cuda.empty_cache()
print("done")
