"""Half precision with a scaled loss: the scaler looks at what it has found."""
import torch
from torch import nn

torch.manual_seed(1)
parts = [nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)) for _ in range(6)]
model = nn.Sequential(*parts).cuda()
optimizer = torch.optim.AdamW(model.parameters())
scaler = torch.amp.GradScaler("cuda")
for step in range(3):
    with torch.autocast("cuda", dtype=torch.float16):
        loss = model(torch.randn(64, 512, device="cuda")).square().mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
print("done")
