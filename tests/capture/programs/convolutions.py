"""Trains convolutions of every kind, with the normalisations that go with them."""
import torch
from torch import nn


class Net(nn.Module):
    """Two dimensions, with a grouped, a strided, a dilated and a transposed convolution."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(inplace=True), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, stride=2, groups=4, bias=False), nn.GroupNorm(8, 64), nn.SiLU(),
            nn.Conv2d(64, 64, 3, padding=2, dilation=2, padding_mode="reflect"), nn.InstanceNorm2d(64), nn.GELU(),
            nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1), nn.AdaptiveAvgPool2d(4), nn.Dropout2d(0.1))
        self.head = nn.Linear(32 * 16, 100)

    def forward(self, images):
        return self.head(self.layers(images).flatten(1))


def train(net, optimizer, images, kind=torch.float32):
    labels = torch.randint(0, 100, (len(images),), device="cuda")
    # Its cache of weights is let go in the order of their addresses: every run another one.
    with torch.autocast("cuda", dtype=kind, enabled=kind != torch.float32, cache_enabled=False):
        loss = nn.functional.cross_entropy(net(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    torch.manual_seed(1)
    net = Net().cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for _ in range(3):
        train(net, optimizer, torch.randn(16, 3, 128, 128, device="cuda"))
    torch.backends.cudnn.benchmark = True
    train(net, optimizer, torch.randn(24, 3, 96, 96, device="cuda"), torch.float16)
    torch.backends.cudnn.deterministic = True
    net = net.to(memory_format=torch.channels_last)
    images = torch.randn(16, 3, 128, 128, device="cuda").to(memory_format=torch.channels_last)
    train(net, optimizer, images)
    train(net, optimizer, images, torch.bfloat16)
    with torch.no_grad():
        net.eval()(images)

    signal = torch.randn(8, 16, 500, device="cuda", requires_grad=True)
    nn.Conv1d(16, 32, 7, padding=3).cuda()(signal).sum().backward()
    volume = torch.randn(2, 4, 16, 32, 32, device="cuda", requires_grad=True)
    layer = nn.Sequential(nn.Conv3d(4, 8, 3), nn.BatchNorm3d(8), nn.ConvTranspose3d(8, 4, 2, stride=2)).cuda()
    layer(volume).sum().backward()
    depthwise = nn.Conv2d(32, 32, 3, padding=1, groups=32).cuda()
    depthwise(torch.randn(4, 32, 56, 56, device="cuda")).sum().backward()


main()
print("done")
