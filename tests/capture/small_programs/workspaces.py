"""Counts the cuBLAS workspaces that a forward and a backward pass leave behind."""
import torch

a = torch.ones(64, 64, device="cuda", requires_grad=True)
(a @ a).sum().backward()
torch.cuda.synchronize()
blocks = [block for segment in torch.cuda.memory_snapshot() for block in segment["blocks"]]
workspaces = sum(block["state"].startswith("active") and block["size"] > 4 << 20 for block in blocks)
print("torch", torch.__version__)
print("workspaces", workspaces)
print("done")
