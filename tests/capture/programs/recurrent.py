"""Trains recurrent networks of every kind, and aligns their outputs by CTC."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

READS_LENGTHS_ON_THE_DEVICE = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 5)


def step(layer, batch):
    outputs, _ = layer(batch)
    if not torch.is_tensor(outputs):
        outputs, _ = pad_packed_sequence(outputs, batch_first=layer.batch_first)
    outputs.sum().backward()


def kinds():
    yield nn.LSTM(64, 128, 2, batch_first=True, dropout=0.1)
    yield nn.LSTM(64, 128, 2, batch_first=True, bidirectional=True, proj_size=48)
    yield nn.LSTM(64, 32, batch_first=True, bias=False)
    yield nn.GRU(64, 96, 3, batch_first=True, bidirectional=True)
    yield nn.RNN(64, 64, 2, batch_first=True)
    yield nn.RNN(64, 64, batch_first=True, nonlinearity="relu")


def align():
    """CTC by cuDNN, which is told the lengths on the host or reads them on the device, and by PyTorch's own kernels."""
    scores = torch.randn(50, 4, 20, device="cuda", requires_grad=True)
    labels = torch.randint(1, 20, (32,), dtype=torch.int32)
    times, lengths = torch.full((4,), 50, dtype=torch.int32), torch.full((4,), 8, dtype=torch.int32)
    given_as = [(labels, (50,) * 4, (8,) * 4), (labels.long().cuda(), times, lengths)]
    if READS_LENGTHS_ON_THE_DEVICE:
        given_as.append((labels.cuda(), times.cuda(), lengths.cuda()))
    for given in given_as:
        nn.functional.ctc_loss(scores.log_softmax(2), *given, reduction="sum").backward()


def main():
    torch.manual_seed(1)
    batch = torch.randn(8, 20, 64, device="cuda")
    packed = pack_padded_sequence(batch, [20, 18, 18, 12, 9, 5, 2, 1], batch_first=True)
    for layer in kinds():
        layer = layer.cuda()
        optimizer = torch.optim.Adam(layer.parameters())
        for given in (batch, packed, batch):
            step(layer, given)
            optimizer.step()
            optimizer.zero_grad()
        with torch.no_grad():
            layer.eval()(batch)
    step(nn.LSTM(64, 64).cuda().half(), torch.randn(20, 8, 64, device="cuda", dtype=torch.float16))
    cell = nn.LSTMCell(64, 32).cuda()
    state = cell(torch.randn(8, 64, device="cuda"))
    cell(torch.randn(8, 64, device="cuda"), state)[0].sum().backward()
    align()


main()
print("done")
