"""Operations whose kernels choose their settings by the architecture that they were built for."""
import torch


def numbers(*shape, **options):
    return torch.randn(*shape, device="cuda", **options)


def whole_numbers(most, *shape):
    return torch.randint(0, most, shape, device="cuda")


def sorted_and_summed():
    numbers(5000).sort()
    numbers(1_000_000).sort()
    numbers(100, 5000).argsort()
    whole_numbers(9, 5000).unique()
    numbers(5000).cumsum(0)
    numbers(100, 5000).topk(10)
    numbers(5000).median()
    whole_numbers(9, 5000).bincount()
    numbers(5000).histc()


def chosen():
    torch.rand(4, 50_000, device="cuda").multinomial(2)
    torch.randperm(100_000, device="cuda")
    numbers(5000).nonzero()
    numbers(5000)[numbers(5000) > 0]
    torch.zeros(100, device="cuda").index_put_((whole_numbers(100, 5000),), torch.ones(5000, device="cuda"), accumulate=True)
    numbers(100, 64, requires_grad=True)[whole_numbers(100, 5000)].sum().backward()
    numbers(100, 64, requires_grad=True).index_select(0, whole_numbers(100, 5000)).sum().backward()


def embedded():
    for words in (3072, 4096):
        torch.nn.Embedding(1000, 64).cuda()(whole_numbers(1000, words)).sum().backward()
    torch.nn.EmbeddingBag(1000, 64).cuda()(whole_numbers(1000, 64, 100)).sum().backward()


sorted_and_summed()
chosen()
embedded()
torch.cuda.synchronize()
print("done")
