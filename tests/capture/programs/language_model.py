"""A small language model, three steps of AdamW."""
import torch
from torch import nn

torch.manual_seed(1)
WIDTH, HEADS, LAYERS, LENGTH, BATCH, WORDS = 256, 4, 4, 128, 8, 4000


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attend, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        parts = self.attend(self.first(x)).chunk(3, -1)
        query, key, value = (part.view(batch, length, HEADS, -1).transpose(1, 2) for part in parts)
        seen = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.down(nn.functional.gelu(self.up(self.second(x))))


model = nn.Sequential(nn.Embedding(WORDS, WIDTH), *[Block() for _ in range(LAYERS)], nn.Linear(WIDTH, WORDS)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(3):
    words = torch.randint(0, WORDS, (BATCH, LENGTH + 1)).cuda()
    loss = nn.functional.cross_entropy(model(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("done")
