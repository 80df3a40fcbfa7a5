"""More programs, in the form of programs.py but of other kinds, to test what was not chosen on them. The first twelve vary their
shapes, the last eight do the same at every step."""
import copy

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from programs import DEVICE, encoder, indices, update, vector


def follow(slow, fast, share):
    """Moves averaged weights towards the trained ones."""
    with torch.no_grad():
        for old, new in zip(slow.parameters(), fast.parameters()):
            old.lerp_(new, share)


def attention(mixed, heads, causal=False):
    """From (batch, tokens, 3 * width) to (batch, tokens, width)."""
    q, k, v = mixed.unflatten(-1, (3, heads, -1)).permute(2, 0, 3, 1, 4)
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(1, 2).flatten(2)


class Decoder(nn.Module):
    """A causal language model; with caches, a list of keys and values per layer, it goes on from there."""
    def __init__(self, width, depth, words, heads=8):
        super().__init__()
        self.heads = heads
        self.table, self.head = nn.Embedding(words, width), nn.Linear(width, words, bias=False)

        def linear(a, b):
            return nn.Linear(a, b, bias=False)
        self.layers = nn.ModuleList([nn.ModuleList([nn.RMSNorm(width), linear(width, 3 * width), linear(width, width), nn.RMSNorm(width),
                                                    linear(width, 4 * width), linear(4 * width, width)]) for _ in range(depth)])

    def forward(self, tokens, caches=None):
        x = self.table(tokens)
        for number, (before, mixed, out, between, up, down) in enumerate(self.layers):
            if caches is None:
                x = x + out(attention(mixed(before(x)), self.heads, True))
            else:
                q, k, v = mixed(before(x)).chunk(3, -1)
                if number == len(caches):
                    caches.append((k, v))
                else:
                    caches[number] = tuple(torch.cat([old, new], 1) for old, new in zip(caches[number], (k, v)))
                q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (q, *caches[number]))
                x = x + out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
            x = x + down(F.silu(up(between(x))))
        return self.head(x)


def packed_vit(draw):
    """A vision transformer on images of mixed resolutions: their patches are packed into one row, attention stays within an image."""
    width = 384
    patch, place, head = nn.Linear(768, width).to(DEVICE), nn.Embedding(1024, width).to(DEVICE), nn.Linear(width, 1000).to(DEVICE)
    layers = nn.ModuleList([nn.ModuleList([nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width), nn.Sequential(
        nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))]) for _ in range(6)]).to(DEVICE)
    optimizer = torch.optim.AdamW([*patch.parameters(), *place.parameters(), *layers.parameters(), *head.parameters()])
    yield
    for _ in range(8):
        sizes = [draw.randrange(8, 33) * draw.randrange(8, 33) for _ in range(draw.randrange(6, 18))]
        x = patch(vector(sum(sizes), 768)) + place(indices(sum(sizes)))
        for norm, mixed, out, wide in layers:
            x = x + out(torch.cat([attention(part[None], 6)[0] for part in mixed(norm(x)).split(sizes)]))
            x = x + wide(x)
        pooled = torch.stack([part.mean(0) for part in x.split(sizes)])
        update(optimizer, F.cross_entropy(head(pooled), indices(len(sizes))))
        del x, pooled
        yield


def state_space(draw):
    """A selective state space model; the scan goes over the sequence in pieces and carries its state along."""
    width, inner, states = 256, 512, 16
    table, head = nn.Embedding(8000, width).to(DEVICE), nn.Linear(width, 8000).to(DEVICE)
    layers = nn.ModuleList([nn.ModuleList([nn.LayerNorm(width), nn.Linear(width, 2 * inner), nn.Conv1d(inner, inner, 4, 1, 3, groups=inner),
                                           nn.Linear(inner, inner + 2 * states), nn.Linear(inner, width)]) for _ in range(4)]).to(DEVICE)
    decays = [vector(inner, states, grad=True) for _ in layers]
    optimizer = torch.optim.AdamW([*table.parameters(), *layers.parameters(), *head.parameters(), *decays])
    yield
    for _ in range(7):
        length = draw.randrange(256, 1792, 128)
        x = table(indices(2, length))
        for (norm, spread, near, select, out), decay in zip(layers, decays):
            row, gate = spread(norm(x)).chunk(2, -1)
            row = F.silu(near(row.transpose(1, 2))[..., :length].transpose(1, 2))
            state, pieces = vector(2, 1, inner, states).zero_(), []
            for piece in row.split(128, 1):
                step, enter, leave = select(piece).split([inner, states, states], -1)
                step = F.softplus(step)
                kept = (step[..., None] * decay).cumsum(1).exp()
                held = kept * (state + (step * piece)[..., None] * enter[:, :, None])
                state = held[:, -1:]
                pieces.append((held * leave[:, :, None]).sum(-1))
            x = x + out(torch.cat(pieces, 1) * F.silu(gate))
        update(optimizer, F.cross_entropy(head(x).flatten(0, 1), indices(2 * length)))
        del x, row, gate, state, pieces, piece, step, enter, leave, kept, held
        yield


def diffusion_transformer(draw):
    """Denoising of latents in buckets of several shapes under autocast, with averaged weights beside the trained ones."""
    width = 896
    with torch.device(DEVICE):
        model = nn.ModuleList([nn.ModuleList([nn.Linear(width, 6 * width), nn.LayerNorm(width, elementwise_affine=False),
                                              nn.Linear(width, 3 * width), nn.Linear(width, width),
                                              nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))])
                               for _ in range(8)] + [nn.Conv2d(4, width, 2, 2), nn.Linear(1, width), nn.Linear(width, 16)])
    slow = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.AdamW(model.parameters())
    yield
    for _ in range(8):
        high, wide = draw.choice([(64, 64), (48, 80), (80, 48), (32, 96), (96, 96)])
        batch = draw.choice([2, 3, 4])
        with torch.autocast(DEVICE, torch.bfloat16, cache_enabled=False):
            *blocks, patch, clock, head = model
            x, time = patch(vector(batch, 4, high, wide)).flatten(2).transpose(1, 2), F.silu(clock(vector(batch, 1, 1)))
            for ada, norm, mixed, out, mlp in blocks:
                a, b, c, d, e, f = ada(time).chunk(6, -1)
                x = x + c * out(attention(mixed(norm(x) * (1 + a) + b), 14))
                x = x + f * mlp(norm(x) * (1 + d) + e)
            loss = head(x).float().square().mean()
        update(optimizer, loss)
        follow(slow, model, .001)
        del x, time, loss, a, b, c, d, e, f
        yield


def speculative(draw):
    """A small model proposes four tokens, a large one judges them at once; both caches are cropped to what was accepted."""
    with torch.device(DEVICE):
        small, large = Decoder(512, 2, 32000).half(), Decoder(1024, 7, 32000, 16).half()
    yield
    with torch.no_grad():
        for _ in range(6):
            batch, length = draw.choice([1, 2, 4]), draw.randrange(48, 640)
            end, cheap, dear = length + 20, [], []
            for model, caches in ((small, cheap), (large, dear)):
                model(indices(batch, length), caches)[:, -1].float().softmax(-1)
            while length < end:
                chances = [small(indices(batch, 1), cheap).float().softmax(-1) for _ in range(4)]
                judged = large(indices(batch, 5), dear).float().softmax(-1)
                ratio = (judged[:, :4] / torch.cat(chances, 1)).clamp(max=1)
                length += draw.randrange(1, 6)
                for caches in (cheap, dear):
                    caches[:] = [(k[:, :length], v[:, :length]) for k, v in caches]
            del cheap, dear, chances, judged, ratio, caches
            yield


def rollouts(draw):
    """Answers are sampled with a cache, which is given back to the device; then the policy learns from them in small batches beside
    a frozen reference."""
    with torch.device(DEVICE):
        policy, reference = Decoder(1024, 6, 32000), Decoder(1024, 6, 32000).bfloat16().requires_grad_(False)
    optimizer = torch.optim.AdamW(policy.parameters())

    def chances(model, tokens):
        return model(tokens).float().log_softmax(-1).gather(-1, tokens[..., None])[..., 0]

    yield
    for _ in range(6):
        prompt, group, grown = draw.randrange(128, 960, 16), draw.choice([8, 12, 16]), draw.randrange(8, 18)
        with torch.no_grad():
            caches = []
            policy(indices(group, prompt), caches)
            for _ in range(grown):
                policy(indices(group, 1), caches)[:, -1].softmax(-1).cumsum(-1)
        del caches
        torch.cuda.empty_cache()
        optimizer.zero_grad(set_to_none=True)
        for _ in range(group // 4):
            tokens = indices(4, prompt + draw.randrange(grown // 2, grown + 1) * 8)
            with torch.no_grad():
                before = chances(reference, tokens)
            now = chances(policy, tokens)
            ((now - now.detach()).exp() - (before - now).exp() + now).mean().backward()
            del before, now, tokens
        nn.utils.clip_grad_norm_(policy.parameters(), 1.)
        optimizer.step()
        yield


def distillation(draw):
    """A small encoder imitates the words and the inner layers of a large frozen one; batches hold about as many tokens each."""
    teach, learn = encoder(1024, 6, 16).bfloat16().eval().requires_grad_(False), encoder(384, 6, 6)
    with torch.device(DEVICE):
        tables = nn.Embedding(30000, 1024).bfloat16().requires_grad_(False), nn.Embedding(30000, 384)
        widen, head = nn.ModuleList([nn.Linear(384, 1024) for _ in range(6)]), nn.Linear(384, 30000)
    optimizer = torch.optim.AdamW([*learn.parameters(), *tables[1].parameters(), *widen.parameters(), *head.parameters()])
    yield
    for _ in range(9):
        length = draw.choice([32, 64, 96, 160, 256, 384])
        tokens = indices(draw.randrange(1200, 3600) // length, length)
        with torch.no_grad():
            y, wanted = tables[0](tokens), []
            for layer in teach.layers:
                y = layer(y)
                wanted.append(y)
            words = (y @ tables[0].weight.T).float().softmax(-1)
        x, loss = tables[1](tokens), 0
        for layer, wide, goal in zip(learn.layers, widen, wanted):
            x = layer(x)
            loss = loss + F.mse_loss(wide(x), goal.float())
        update(optimizer, loss + F.kl_div(head(x).log_softmax(-1), words, reduction="batchmean"))
        del x, y, wanted, words, loss, goal, tokens
        yield


def point_clouds(draw):
    """Points are thinned out twice; each that stays gathers its nearest neighbours, looked for in pieces."""
    nets = nn.ModuleList([nn.Sequential(nn.Linear(a, b), nn.ReLU(), nn.Linear(b, b), nn.ReLU())
                          for a, b in ((6, 64), (67, 128))]).to(DEVICE)
    head = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 40)).to(DEVICE)
    optimizer = torch.optim.Adam([*nets.parameters(), *head.parameters()])
    yield
    for _ in range(12):
        count = draw.randrange(6000, 24000)
        places = seen = vector(count, 3)
        for net, share, near in zip(nets, (4, 5), (24, 16)):
            kept = places[torch.randperm(len(places), device=DEVICE)[:len(places) // share]]
            found = torch.cat([torch.cdist(piece, places).topk(near, largest=False).indices for piece in kept.split(1024)])
            around = torch.cat([places[found] - kept[:, None], seen[found]], -1)
            places, seen = kept, net(around).amax(1)
        update(optimizer, F.cross_entropy(head(seen), indices(len(seen))))
        del places, seen, kept, found, around
        yield


def clips(draw):
    """Convolutions in space and in time over clips of varying length and size; the costly half is computed twice instead of kept."""
    def block(a, b, stride):
        return nn.Sequential(nn.Conv3d(a, b, (1, 3, 3), (1, stride, stride), (0, 1, 1)), nn.GroupNorm(8, b), nn.ReLU(),
                             nn.Conv3d(b, b, (3, 1, 1), 1, (1, 0, 0)), nn.GroupNorm(8, b), nn.ReLU())
    costly = nn.ModuleList([block(3, 64, 1), block(64, 64, 1), block(64, 128, 2)]).to(DEVICE)
    cheap = nn.Sequential(block(128, 128, 1), block(128, 256, 2), block(256, 256, 1), block(256, 512, 2)).to(DEVICE)
    head = nn.Linear(512, 400).to(DEVICE)
    optimizer = torch.optim.SGD([*costly.parameters(), *cheap.parameters(), *head.parameters()], momentum=.9)
    yield
    for _ in range(8):
        frames, side = draw.choice([8, 12, 16, 24]), draw.choice([96, 112, 128, 144])
        x = vector(5, 3, frames, side, side, grad=True)
        for layer in costly:
            x = checkpoint(layer, x, use_reentrant=True)
        update(optimizer, F.cross_entropy(head(cheap(x).mean((2, 3, 4))), indices(5)))
        del x
        yield


def residual(width, groups):
    """Two parts of two convolutions each, for shortcuts around them."""
    return nn.ModuleList([nn.Sequential(nn.Conv2d(width, width, 3, 1, 1), nn.GroupNorm(groups, width), nn.ReLU(),
                                        nn.Conv2d(width, width, 3, 1, 1), nn.GroupNorm(groups, width)) for _ in range(2)])


def shortcuts(parts, x):
    for part in parts:
        x = F.relu(x + part(x))
    return x


def memory_queue(draw):
    """Contrasting views of an image with a long queue of former ones; views are cropped to varying sizes, the keys' network lags behind."""
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.entries = nn.ModuleList([nn.Conv2d(a, b, 3, 2, 1) for a, b in ((3, 48), (48, 96), (96, 192))])
            self.bodies = nn.ModuleList([residual(width, 8) for width in (48, 96, 192)])
            self.head = nn.Linear(192, 128)

        def forward(self, x):
            for entry, body in zip(self.entries, self.bodies):
                x = shortcuts(body, entry(x))
            return F.normalize(self.head(x.mean((2, 3))))

    query = Net().to(DEVICE)
    key = copy.deepcopy(query).requires_grad_(False)
    queue, batch, at = vector(128, 65536), 16, 0
    optimizer = torch.optim.SGD(query.parameters(), momentum=.9)
    yield
    for _ in range(6):
        whole, parts = draw.choice([128, 160, 192, 224]), [draw.choice([64, 80, 96, 112]) for _ in range(draw.randrange(1, 3))]
        follow(key, query, .01)
        with torch.no_grad():
            wanted = key(vector(batch, 3, whole, whole))
        loss = 0
        for side in [whole, *parts]:
            seen = query(vector(batch, 3, side, side))
            scores = torch.cat([(seen * wanted).sum(1, keepdim=True), seen @ queue], 1) / .07
            loss = loss + F.cross_entropy(scores, indices(batch))
        update(optimizer, loss)
        queue[:, at:at + batch] = wanted.T
        at += batch
        del loss, scores, seen, wanted
        yield


def retrieval(draw):
    """Questions are encoded and scored against an index in pieces; the best of each piece are merged, then read again in pairs."""
    shards = [torch.empty(200000, 384, device=DEVICE, dtype=torch.half) for _ in range(5)]
    table, body, judge = nn.Embedding(30000, 384).half().to(DEVICE), encoder(384, 4, 6).half(), encoder(384, 4, 6).half()
    yield
    with torch.no_grad():
        for _ in range(10):
            asked, length = draw.randrange(64, 1500), draw.randrange(8, 64)
            seen = body(table(indices(asked, length))).mean(1)
            scores, found = [], []
            for shard in shards:
                for piece in shard.split(70000):
                    best = (seen @ piece.T).float().topk(64)
                    scores.append(best.values)
                    found.append(best.indices)
            order = torch.cat(scores, 1).topk(32).indices
            chosen = torch.cat(found, 1).gather(1, order)
            for few in chosen[:asked // 8].split(16):
                judge(table(indices(few.numel(), length + draw.randrange(32, 96))))[:, 0].sum(-1).sort()
            del seen, scores, found, best, order, chosen, few
            yield


def scales(draw):
    """Segmentation of crops of varying size with features of four scales; now and then an image is judged at several sizes and mirrored."""
    widths = 32, 64, 128, 256
    entries = nn.ModuleList([nn.Conv2d(a, b, 3, 2, 1) for a, b in zip((3, *widths), widths)]).to(DEVICE)
    bodies = nn.ModuleList([residual(width, 8) for width in widths]).to(DEVICE)
    sides = nn.ModuleList([nn.Conv2d(width, 64, 1) for width in widths]).to(DEVICE)
    head = nn.Conv2d(256, 60, 1).to(DEVICE)

    def predict(image):
        found = []
        for entry, body in zip(entries, bodies):
            found.append(shortcuts(body, entry(image if not found else found[-1])))
        pooled = [F.interpolate(side(x), found[0].shape[2:], mode="bilinear") for side, x in zip(sides, found)]
        return F.interpolate(head(torch.cat(pooled, 1)), image.shape[2:], mode="bilinear")

    optimizer = torch.optim.SGD([p for part in (entries, bodies, sides, head) for p in part.parameters()], momentum=.9)
    yield
    for step in range(9):
        high, wide = draw.randrange(192, 480, 32), draw.randrange(192, 480, 32)
        update(optimizer, F.cross_entropy(predict(vector(4, 3, high, wide)), indices(4, high, wide)))
        if step % 3 == 1:
            with torch.no_grad():
                image, summed = vector(1, 3, draw.randrange(256, 512, 16), 512), 0
                for factor in (.5, .75, 1, 1.25, 1.5):
                    scaled = F.interpolate(image, scale_factor=factor, mode="bilinear")
                    for view in (scaled, scaled.flip(-1)):
                        summed = summed + F.interpolate(predict(view).softmax(1), image.shape[2:], mode="bilinear")
                del image, summed, scaled, view
        yield


def codec(draw):
    """Sound of varying length is coded in eight rounds of a codebook each and made again; a judge hears it at three rates."""
    def stack(*layers):
        return nn.Sequential(*[part for layer in layers for part in (layer, nn.ELU())]).to(DEVICE)
    shrink = stack(nn.Conv1d(1, 16, 7, 1, 3), nn.Conv1d(16, 32, 4, 2, 1), nn.Conv1d(32, 64, 8, 4, 2), nn.Conv1d(64, 128, 10, 5, 3))
    grow = stack(nn.ConvTranspose1d(128, 64, 10, 5, 3, 1), nn.ConvTranspose1d(64, 32, 8, 4, 2), nn.ConvTranspose1d(32, 16, 4, 2, 1),
                 nn.Conv1d(16, 1, 7, 1, 3))
    judges = nn.ModuleList([stack(nn.Conv1d(1, 16, 15, 1, 7), nn.Conv1d(16, 64, 41, 4, 20), nn.Conv1d(64, 128, 41, 4, 20),
                                  nn.Conv1d(128, 1, 3, 1, 1)) for _ in range(3)])
    books = [vector(1024, 128) for _ in range(8)]
    makes, hears = torch.optim.Adam([*shrink.parameters(), *grow.parameters()]), torch.optim.Adam(judges.parameters())

    def heard(sound):
        return sum(judge(F.avg_pool1d(sound, rate) if rate > 1 else sound).mean() for judge, rate in zip(judges, (1, 2, 4)))

    yield
    for _ in range(10):
        sound = vector(3, 1, draw.randrange(6000, 20000, 40))
        inner = shrink(sound).transpose(1, 2)
        rest, coded = inner, 0
        for book in books:
            nearest = F.embedding(torch.cdist(rest, book).argmin(-1), book)
            rest, coded = rest - nearest, coded + nearest
        made = grow((inner + (coded - inner).detach()).transpose(1, 2))[..., :sound.shape[-1]]
        update(hears, heard(made.detach()) - heard(sound[..., :made.shape[-1]]))
        update(makes, F.l1_loss(made, sound[..., :made.shape[-1]]) + F.mse_loss(inner, coded) - heard(made))
        del sound, inner, rest, coded, nearest, made
        yield


def masked_words(draw):
    """Fixed: a bidirectional encoder guesses hidden words; LAMB, written out, takes a trust ratio for each weight."""
    with torch.device(DEVICE):
        table, head = nn.Embedding(30522, 640), nn.Linear(640, 30522)
    body = encoder(640, 6, 10)
    weights = [*table.parameters(), *body.parameters(), *head.parameters()]
    first, second = [torch.zeros_like(w) for w in weights], [torch.zeros_like(w) for w in weights]
    yield
    for _ in range(8):
        x = body(table(indices(12, 256))).flatten(0, 1)
        F.cross_entropy(head(x[indices(460)]), indices(460)).backward()
        with torch.no_grad():
            for w, m, v in zip(weights, first, second):
                m.lerp_(w.grad, .1)
                v.mul_(.999).addcmul_(w.grad, w.grad, value=.001)
                change = m / (v.sqrt() + 1e-6) + .01 * w
                w.sub_(change * (w.norm() / change.norm()) * 1e-3)
                w.grad = None
        del x, change
        yield


def images(draw):
    """Fixed: a residual network with bottlenecks and batch norms."""
    class Bottleneck(nn.Module):
        def __init__(self, a, b, stride):
            super().__init__()
            self.body = nn.Sequential(nn.Conv2d(a, b, 1, bias=False), nn.BatchNorm2d(b), nn.ReLU(True),
                                      nn.Conv2d(b, b, 3, stride, 1, bias=False), nn.BatchNorm2d(b), nn.ReLU(True),
                                      nn.Conv2d(b, 4 * b, 1, bias=False), nn.BatchNorm2d(4 * b))
            self.side = nn.Sequential(nn.Conv2d(a, 4 * b, 1, stride, bias=False), nn.BatchNorm2d(4 * b)) if a != 4 * b else nn.Identity()

        def forward(self, x):
            return F.relu(self.body(x) + self.side(x), True)

    net = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(True), nn.MaxPool2d(3, 2, 1),
                        Bottleneck(64, 64, 1), Bottleneck(256, 64, 1), Bottleneck(256, 128, 2), Bottleneck(512, 128, 1),
                        Bottleneck(512, 256, 2), Bottleneck(1024, 256, 1), Bottleneck(1024, 512, 2),
                        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000)).to(DEVICE)
    optimizer = torch.optim.SGD(net.parameters(), momentum=.9, weight_decay=1e-4)
    yield
    for _ in range(6):
        update(optimizer, F.cross_entropy(net(vector(32, 3, 224, 224)), indices(32)))
        yield


def mixer(draw):
    """Fixed: perceptrons over patches and over channels in turns, clipped gradients, averaged weights."""
    width, count = 384, 196

    def wide(count, factor):
        return nn.Sequential(nn.Linear(count, factor * count), nn.GELU(), nn.Linear(factor * count, count))
    net = nn.ModuleList([nn.ModuleList([nn.LayerNorm(width), wide(count, 2), nn.LayerNorm(width), wide(width, 4)]) for _ in range(6)]
                        + [nn.Conv2d(3, width, 16, 16), nn.Linear(width, 1000)]).to(DEVICE)
    slow = copy.deepcopy(net).requires_grad_(False)
    optimizer = torch.optim.AdamW(net.parameters())
    yield
    for _ in range(9):
        *layers, patch, head = net
        x = patch(vector(24, 3, 224, 224)).flatten(2).transpose(1, 2)
        for before, across, between, along in layers:
            x = x + across(before(x).transpose(1, 2)).transpose(1, 2)
            x = x + along(between(x))
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(head(x.mean(1)), indices(24)).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.)
        optimizer.step()
        follow(slow, net, .001)
        del x
        yield


def autoencoder(draw):
    """Fixed: a variational autoencoder on small images."""
    shrink = nn.Sequential(nn.Conv2d(3, 32, 4, 2, 1), nn.SiLU(), nn.Conv2d(32, 64, 4, 2, 1), nn.SiLU(), nn.Conv2d(64, 128, 4, 2, 1),
                           nn.SiLU(), nn.Flatten(), nn.Linear(128 * 64, 256)).to(DEVICE)
    grow = nn.Sequential(nn.Linear(128, 128 * 64), nn.Unflatten(1, (128, 8, 8)), nn.SiLU(), nn.ConvTranspose2d(128, 64, 4, 2, 1), nn.SiLU(),
                         nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.SiLU(), nn.ConvTranspose2d(32, 3, 4, 2, 1)).to(DEVICE)
    optimizer = torch.optim.Adam([*shrink.parameters(), *grow.parameters()])
    yield
    for _ in range(14):
        image = vector(32, 3, 64, 64)
        mean, spread = shrink(image).chunk(2, 1)
        made = grow(mean + torch.randn_like(mean) * (spread / 2).exp())
        update(optimizer, F.mse_loss(made, image) - (1 + spread - mean.square() - spread.exp()).mean())
        del image, mean, spread, made
        yield


def tabular(draw):
    """Fixed: columns of a table with very many rows at a time, numbers beside embedded categories."""
    tables = nn.ModuleList([nn.Embedding(rows, 16) for rows in (100000, 20000, 5000, 1000, 300, 100, 50, 12)]).to(DEVICE)
    entry, head = nn.Linear(8 * 16 + 40, 256).to(DEVICE), nn.Sequential(nn.LayerNorm(256), nn.ReLU(), nn.Linear(256, 1)).to(DEVICE)
    blocks = nn.ModuleList([nn.Sequential(nn.BatchNorm1d(256), nn.Linear(256, 512), nn.ReLU(), nn.Dropout(.1), nn.Linear(512, 256),
                                          nn.Dropout(.1)) for _ in range(5)]).to(DEVICE)
    optimizer = torch.optim.AdamW([p for part in (tables, entry, blocks, head) for p in part.parameters()])
    yield
    for _ in range(12):
        x = entry(torch.cat([table(indices(65536)) for table in tables] + [vector(65536, 40)], 1))
        for block in blocks:
            x = x + block(x)
        update(optimizer, F.binary_cross_entropy_with_logits(head(x)[:, 0], vector(65536)))
        del x
        yield


def unrolled(draw):
    """Fixed: a differential equation learned through every step of its solver (Runge and Kutta's, of fourth order)."""
    change = nn.Sequential(nn.Linear(64, 192), nn.Tanh(), nn.Linear(192, 192), nn.Tanh(), nn.Linear(192, 64)).to(DEVICE)
    optimizer = torch.optim.RMSprop(change.parameters())
    yield
    for _ in range(8):
        x = vector(1200, 64)
        for _ in range(12):
            a = change(x)
            b = change(x + a * .05)
            c = change(x + b * .05)
            x = x + (a + 2 * b + 2 * c + change(x + c * .1)) / 60
        update(optimizer, x.square().mean())
        del x, a, b, c
        yield


def orthogonal(draw):
    """Fixed: a language model whose matrices are moved by orthogonalised momentum (Muon), the rest by Adam."""
    with torch.device(DEVICE):
        model = Decoder(1024, 6, 24000)
    matrices = [p for p in model.layers.parameters() if p.ndim == 2]
    moments = [torch.zeros_like(p) for p in matrices]
    optimizer = torch.optim.AdamW([*model.table.parameters(), *model.head.parameters()])
    yield
    for _ in range(7):
        tokens = indices(16, 512)
        update(optimizer, F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten()))
        with torch.no_grad():
            for weight, moment in zip(matrices, moments):
                moment.lerp_(weight.grad, .05)
                x = weight.grad.lerp(moment, .95).bfloat16()
                if len(x) > x.shape[1]:
                    x = x.T
                x = x / (x.norm() + 1e-7)
                for _ in range(5):
                    square = x @ x.T
                    x = 3.4445 * x + (-4.775 * square + 2.0315 * square @ square) @ x
                weight.sub_((x if x.shape == weight.shape else x.T).float() * .02)
                weight.grad = None
        del x, square, tokens
        yield


def radiance(draw):
    """Fixed: rays through a field learned with a coarse and a fine network, then a strip of the picture, in pieces."""
    def field():
        between = [part for _ in range(5) for part in (nn.Linear(128, 128), nn.ReLU())]
        return nn.Sequential(nn.Linear(63, 128), nn.ReLU(), *between, nn.Linear(128, 4))
    coarse, fine = field().to(DEVICE), field().to(DEVICE)
    optimizer = torch.optim.Adam([*coarse.parameters(), *fine.parameters()])

    def seen(net, places):
        wave = places[..., None, :] * 2. ** torch.arange(10, device=DEVICE)[:, None]
        out = net(torch.cat([places, wave.sin().flatten(-2), wave.cos().flatten(-2)], -1))
        opaque = 1 - (-F.relu(out[..., 3])).exp()
        weight = opaque * (1 - opaque + 1e-10).cumprod(-1)
        return (weight[..., None] * out[..., :3].sigmoid()).sum(-2), weight

    def shine(rays):
        rough, weight = seen(coarse, vector(rays, 64, 3))
        found = torch.searchsorted(weight.detach().cumsum(-1), vector(rays, 96))
        places = torch.cat([vector(rays, 64, 3), vector(rays, 96, 3) * found[..., None]], 1)
        return rough, seen(fine, places)[0]

    yield
    for _ in range(8):
        rough, best = shine(1024)
        update(optimizer, rough.square().mean() + best.square().mean())
        with torch.no_grad():
            torch.cat([shine(512)[1] for _ in range(3)])
        del rough, best
        yield


VARYING = (packed_vit, state_space, diffusion_transformer, speculative, rollouts, distillation, point_clouds, clips, memory_queue,
           retrieval, scales, codec)
FIXED = masked_words, images, mixer, autoencoder, tabular, unrolled, orthogonal, radiance
PROGRAMS = {program.__name__: program for program in VARYING + FIXED}
