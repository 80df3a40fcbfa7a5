"""Attention by each of its backends, and what else a model takes from PyTorch's own kernels."""
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel


def backends():
    yield from (SDPBackend.MATH, SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION)
    if hasattr(torch.backends.cuda, "can_use_cudnn_attention"):
        yield SDPBackend.CUDNN_ATTENTION


def attend(backend, kind, causal):
    query, key, value = (torch.randn(2, 8, 256, 64, device="cuda", dtype=kind, requires_grad=True) for _ in range(3))
    with sdpa_kernel(backend):
        nn.functional.scaled_dot_product_attention(query, key, value, is_causal=causal).sum().backward()


def others():
    """What is chosen by values, of which none is computed."""
    torch.multinomial(torch.rand(8, 100, device="cuda"), 5, replacement=True)
    torch.randperm(1000, device="cuda")
    numbers = torch.randint(0, 50, (1000,), device="cuda")
    torch.sort(numbers)
    torch.topk(numbers, 10)
    torch.unique(numbers)
    torch.nonzero(numbers)
    torch.cumsum(numbers, 0)
    torch.histc(numbers.float(), 10)
    torch.bincount(numbers)
    bag = nn.EmbeddingBag(100, 32, mode="sum").cuda()
    bag(numbers[:64], torch.arange(0, 64, 8, device="cuda")).sum().backward()
    image = torch.randn(2, 3, 32, 32, device="cuda", requires_grad=True)
    place = nn.functional.affine_grid(torch.eye(2, 3, device="cuda").expand(2, 2, 3), [2, 3, 32, 32], False)
    nn.functional.grid_sample(image, place, align_corners=True).sum().backward()
    nn.functional.interpolate(image, scale_factor=2, mode="bilinear").sum().backward()


def main():
    torch.manual_seed(1)
    for kind in (torch.float16, torch.bfloat16):
        for backend in backends():
            for causal in (False, True):
                attend(backend, kind, causal)
    layer = nn.MultiheadAttention(256, 8, batch_first=True).cuda()
    batch = torch.randn(4, 32, 256, device="cuda")
    layer(batch, batch, batch)[0].sum().backward()
    layer.eval()
    with torch.no_grad():
        layer(batch, batch, batch, need_weights=False)
    norm = nn.Sequential(nn.LayerNorm(256), nn.RMSNorm(256)).cuda()
    norm(batch).sum().backward()
    others()


main()
print("done")
