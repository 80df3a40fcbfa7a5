"""Small training and serving programs. Each is a generator: a step, or the building of the model, ends at each yield. What varies is
drawn on the host, so a program asks for the same memory under every allocator setting."""
import random

import torch
from torch import nn
from torch.nn import functional as F

DEVICE = "cuda"


def vector(*shape, grad=False):
    return torch.empty(*shape, device=DEVICE, requires_grad=grad)


def indices(*shape):
    return torch.zeros(*shape, dtype=torch.long, device=DEVICE)


def update(optimizer, loss):
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()


def unet(draw):
    """A denoising network on images of varying size."""
    def block(a, b, stride=1):
        return nn.Sequential(nn.Conv2d(a, b, 3, stride, 1), nn.GroupNorm(8, b), nn.SiLU(), nn.Conv2d(b, b, 3, 1, 1), nn.SiLU())
    down = nn.ModuleList([block(3, 64), block(64, 128, 2), block(128, 256, 2), block(256, 512, 2)]).to(DEVICE)
    up = nn.ModuleList([block(768, 256), block(384, 128), block(192, 64)]).to(DEVICE)
    head = nn.Conv2d(64, 3, 1).to(DEVICE)
    optimizer = torch.optim.AdamW([*down.parameters(), *up.parameters(), *head.parameters()])
    yield
    for _ in range(8):
        side = draw.choice([64, 96, 128, 160])
        x, skips = vector(4, 3, side, side), []
        for layer in down:
            x = layer(x)
            skips.append(x)
        skips.pop()
        for layer in up:
            x = layer(torch.cat([F.interpolate(x, scale_factor=2), skips.pop()], 1))
        update(optimizer, head(x).square().mean())
        del x, skips
        yield


def gan(draw):
    """Two networks with an optimizer each, in turns; the batch varies a little."""
    make = nn.Sequential(nn.Linear(128, 8192), nn.ReLU(), nn.Unflatten(1, (128, 8, 8)), nn.ConvTranspose2d(128, 64, 4, 2, 1), nn.ReLU(),
                         nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(32, 3, 4, 2, 1)).to(DEVICE)
    judge = nn.Sequential(nn.Conv2d(3, 64, 4, 2, 1), nn.LeakyReLU(), nn.Conv2d(64, 128, 4, 2, 1), nn.LeakyReLU(), nn.Flatten(),
                          nn.Linear(128 * 256, 256), nn.ReLU(), nn.Linear(256, 1)).to(DEVICE)
    makes, judges = torch.optim.Adam(make.parameters()), torch.optim.Adam(judge.parameters())
    yield
    for _ in range(10):
        batch = draw.choice([96, 128, 160])
        fake = make(vector(batch, 128))
        update(judges, judge(vector(batch, 3, 64, 64)).mean() - judge(fake.detach()).mean())
        update(makes, -judge(fake).mean())
        del fake
        yield


def experts(draw):
    """A layer of experts; how many tokens each gets is drawn anew."""
    width, count = 512, 8
    layers = nn.ModuleList([nn.ModuleList([nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
                                           for _ in range(count)]) for _ in range(3)]).to(DEVICE)
    gates = nn.ModuleList([nn.Linear(width, count) for _ in range(3)]).to(DEVICE)
    optimizer = torch.optim.AdamW([*layers.parameters(), *gates.parameters()])
    yield
    for _ in range(8):
        tokens = draw.choice([2048, 4096, 6144])
        x = vector(tokens, width)
        for layer, gate in zip(layers, gates):
            shares = [draw.random() + .1 for _ in layer]
            cuts = [int(tokens * share / sum(shares)) for share in shares]
            weights, out = gate(x).softmax(-1), torch.zeros_like(x)
            for number, (expert, taken) in enumerate(zip(layer, cuts)):
                rows = torch.arange(taken, device=DEVICE)
                out = out.index_add(0, rows, expert(x[:taken]) * weights[:taken, number:number + 1])
            x = x + out
        update(optimizer, x.square().mean())
        del x, out, weights
        yield


def lstm(draw):
    """A recurrent tagger over sentences of varying length, with an evaluation now and then."""
    table, cell, head = nn.Embedding(20000, 256).to(DEVICE), nn.LSTM(256, 512, 2, batch_first=True).to(DEVICE), nn.Linear(512, 2000).to(DEVICE)
    optimizer = torch.optim.SGD([*table.parameters(), *cell.parameters(), *head.parameters()], momentum=.9, lr=.1)
    yield
    for step in range(8):
        length = draw.randrange(8, 40)
        update(optimizer, F.cross_entropy(head(cell(table(indices(32, length)))[0]).flatten(0, 1), indices(32 * length)))
        if step % 3 == 2:
            with torch.no_grad():
                head(cell(table(indices(64, 30)))[0])
        yield


def two_towers(draw):
    """Two encoders, compared pairwise over the batch."""
    def tower(width):
        return nn.Sequential(nn.Linear(width, 2048), nn.GELU(), nn.LayerNorm(2048), nn.Linear(2048, 2048), nn.GELU(), nn.Linear(2048, 512))
    left, right = tower(3072).to(DEVICE), tower(768).to(DEVICE)
    optimizer = torch.optim.AdamW([*left.parameters(), *right.parameters()])
    yield
    for _ in range(10):
        batch = draw.choice([1024, 2048, 3072, 4096])
        a, b = F.normalize(left(vector(batch, 3072))), F.normalize(right(vector(batch, 768)))
        scores = a @ b.T * 20
        update(optimizer, F.cross_entropy(scores, indices(batch)) + F.cross_entropy(scores.T, indices(batch)))
        del a, b, scores
        yield


def encoder(width, depth, heads=8):
    layer = nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, batch_first=True)
    return nn.TransformerEncoder(layer, depth, enable_nested_tensor=False).to(DEVICE)


def accumulation(draw):
    """A transformer whose gradients are gathered over several small batches."""
    table, body, head = nn.Embedding(16000, 512).to(DEVICE), encoder(512, 4), nn.Linear(512, 16000).to(DEVICE)
    optimizer = torch.optim.AdamW([*table.parameters(), *body.parameters(), *head.parameters()])
    yield
    for _ in range(6):
        optimizer.zero_grad(set_to_none=True)
        for _ in range(3):
            length = draw.randrange(64, 320, 32)
            F.cross_entropy(head(body(table(indices(4, length)))).flatten(0, 1), indices(4 * length)).backward()
        optimizer.step()
        yield


def adapters(draw):
    """Fine-tuning of small matrices beside frozen ones."""
    width = 1024
    frozen = [vector(width, 4 * width).bfloat16() for _ in range(6)], [vector(4 * width, width).bfloat16() for _ in range(6)]
    small = [vector(width, 16, grad=True) for _ in range(6)], [vector(16, 4 * width, grad=True) for _ in range(6)]
    optimizer = torch.optim.AdamW([*small[0], *small[1]])
    yield
    for _ in range(9):
        x = vector(4, draw.randrange(128, 1024, 64), width).bfloat16()
        for up, down, a, b in zip(*frozen, *small):
            x = x + F.gelu(x @ up + x @ a.bfloat16() @ b.bfloat16()) @ down
        update(optimizer, x.float().square().mean())
        del x
        yield


def actor_critic(draw):
    """Acting, and learning from a store on the device that grows until it is full."""
    def net(out):
        return nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, out)).to(DEVICE)
    actor, critic, target = net(16), net(1), net(1)
    acts, judges = torch.optim.Adam(actor.parameters()), torch.optim.Adam(critic.parameters())
    store = []
    yield
    for _ in range(14):
        with torch.no_grad():
            for _ in range(draw.randrange(3, 9)):
                seen = vector(256, 512)
                store.append((seen, actor(seen).softmax(-1)))
        del store[:-40]
        batch = torch.cat([seen for seen, _ in draw.sample(store, min(len(store), 8))])
        with torch.no_grad():
            wanted = target(batch)
        update(judges, F.mse_loss(critic(batch), wanted))
        update(acts, -critic(batch).mean() + actor(batch).square().mean())
        del batch, wanted, seen
        yield


def speech(draw):
    """Convolutions over sound of varying length, then a transformer."""
    front = nn.Sequential(nn.Conv1d(80, 384, 3, 1, 1), nn.GELU(), nn.Conv1d(384, 384, 3, 2, 1), nn.GELU()).to(DEVICE)
    body, head = encoder(384, 4, 6), nn.Linear(384, 5000).to(DEVICE)
    optimizer = torch.optim.AdamW([*front.parameters(), *body.parameters(), *head.parameters()])
    yield
    for _ in range(8):
        frames = draw.randrange(400, 1600, 40)
        out = head(body(front(vector(6, 80, frames)).transpose(1, 2)))
        update(optimizer, out.log_softmax(-1).mean())
        del out
        yield


def graph(draw):
    """Messages along edges; nodes and edges vary independently."""
    layers = nn.ModuleList([nn.Linear(2 * 256, 256) for _ in range(4)]).to(DEVICE)
    optimizer = torch.optim.Adam(layers.parameters())
    yield
    for _ in range(12):
        nodes, edges = draw.randrange(5000, 30000), draw.randrange(20000, 90000)
        source, end = indices(edges), indices(edges)
        x = vector(nodes, 256)
        for layer in layers:
            gathered = torch.zeros_like(x).index_add(0, end, x[source])
            x = F.relu(layer(torch.cat([x, gathered], 1)))
        update(optimizer, x.square().mean())
        del x, gathered, source, end
        yield


def recommender(draw):
    """Large tables with sparse gradients, and a small network."""
    tables = nn.ModuleList([nn.EmbeddingBag(rows, 64, sparse=True, mode="sum") for rows in (400000, 200000, 100000, 50000)]).to(DEVICE)
    net = nn.Sequential(nn.Linear(256 + 13, 1024), nn.ReLU(), nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 1)).to(DEVICE)
    sparse, dense = torch.optim.SGD(tables.parameters(), lr=.1), torch.optim.Adam(net.parameters())
    yield
    for _ in range(12):
        batch = draw.choice([4096, 8192, 12288])
        parts = [table(indices(batch, draw.randrange(2, 20))) for table in tables]
        loss = net(torch.cat([*parts, vector(batch, 13)], 1)).square().mean()
        sparse.zero_grad(set_to_none=True)
        update(dense, loss)
        del parts, loss
        yield


def beams(draw):
    """Decoding with several beams: caches grow by a token and are gathered anew."""
    width, depth = 768, 6
    weights = [[vector(width, 3 * width).half(), vector(width, 4 * width).half(), vector(4 * width, width).half()] for _ in range(depth)]
    words = vector(width, 32000).half()
    yield
    with torch.no_grad():
        for _ in range(7):
            beams, prompt = draw.choice([4, 8, 16]), draw.randrange(32, 256)
            caches = [[vector(beams, prompt, width).half() for _ in range(2)] for _ in range(depth)]
            for _ in range(24):
                x = vector(beams, 1, width).half()
                order = indices(beams)
                for cache, (mixed, up, down) in zip(caches, weights):
                    q, k, v = (x @ mixed).chunk(3, -1)
                    cache[:] = [torch.cat([cache[0], k], 1)[order], torch.cat([cache[1], v], 1)[order]]
                    x = x + (q @ cache[0].transpose(1, 2)).softmax(-1) @ cache[1]
                    x = x + F.gelu(x @ up) @ down
                (x @ words).log_softmax(-1).flatten(1).topk(2 * beams)
            del caches, cache, q, k, v, x, order
            yield


PROGRAMS = {program.__name__: program for program in
            (unet, gan, experts, lstm, two_towers, accumulation, adapters, actor_critic, speech, graph, recommender, beams)}


def run(name, seed, after_step):
    """Plays one program and calls `after_step` whenever a step has ended."""
    torch.manual_seed(seed)
    for _ in PROGRAMS[name](random.Random(seed)):
        after_step()
