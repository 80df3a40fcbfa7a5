"""Asks the maths libraries for what PyTorch has of them: factors, transforms, sparse products."""
import torch


def factors(kind):
    """Decompositions and solvers, of one matrix and of a batch."""
    for shape in ((48, 48), (4, 24, 24), (64, 3, 3)):
        a = torch.randn(*shape, device="cuda", dtype=kind)
        b = torch.randn(*shape[:-1], 5, device="cuda", dtype=kind)
        symmetric = a @ a.mH
        torch.linalg.cholesky_ex(symmetric)
        torch.cholesky_solve(b, torch.linalg.cholesky(symmetric))
        torch.linalg.lu_factor(a)
        torch.linalg.solve(a, b)
        torch.linalg.inv(a)
        torch.linalg.det(a)
        torch.linalg.slogdet(a)
        torch.linalg.qr(a)
        torch.linalg.svd(a)
        torch.linalg.svdvals(a)
        torch.linalg.eigh(symmetric)
        torch.linalg.eigvalsh(symmetric)
        torch.linalg.lstsq(a, b)
        torch.linalg.pinv(a)
        torch.linalg.solve_triangular(a, b, upper=True)
        torch.linalg.ldl_factor(symmetric)
    q, tau = torch.geqrf(torch.randn(40, 20, device="cuda", dtype=kind))
    torch.ormqr(q, tau, torch.randn(40, 7, device="cuda", dtype=kind))
    torch.linalg.householder_product(q, tau)


def transforms():
    for length in (1024, 1000, 1009):
        signal = torch.randn(16, length, device="cuda", requires_grad=True)
        torch.fft.irfft(torch.fft.rfft(signal), n=length).sum().backward()
    torch.fft.fft2(torch.randn(4, 64, 64, device="cuda", dtype=torch.complex64))
    torch.fft.fftn(torch.randn(8, 16, 32, device="cuda", dtype=torch.float64))
    torch.stft(torch.randn(2, 16000, device="cuda"), 512, window=torch.hann_window(512, device="cuda"),
               return_complex=True)


def sparse():
    rows = torch.arange(64, device="cuda")
    coo = torch.sparse_coo_tensor(torch.stack([rows, rows]), torch.ones(64, device="cuda"), (64, 64),
                                  is_coalesced=True, check_invariants=False)
    csr = torch.sparse_csr_tensor(torch.arange(65, device="cuda"), rows, torch.ones(64, device="cuda"), (64, 64),
                                  check_invariants=False)
    dense = torch.randn(64, 32, device="cuda")
    torch.sparse.mm(coo, dense)
    for _ in range(2):
        csr @ dense
        csr @ dense[:, 0]
    torch.sparse.sampled_addmm(csr, torch.randn(64, 8, device="cuda"), torch.randn(8, 64, device="cuda"))
    torch.triangular_solve(dense, csr, upper=False)
    torch.add(csr, csr)
    csr @ csr


def products():
    a = torch.randn(64, 128, device="cuda", requires_grad=True)
    for kind in (torch.float32, torch.float16, torch.bfloat16):
        linear = torch.nn.Sequential(torch.nn.Linear(128, 256), torch.nn.GELU("tanh"), torch.nn.Linear(256, 64))
        linear.to("cuda", kind)(a.to(kind)).sum().backward()
        torch._addmm_activation(linear[0].bias, a.to(kind), linear[0].weight.t(), use_gelu=True)
        torch.bmm(torch.randn(4, 8, 16, device="cuda", dtype=kind), torch.randn(4, 16, 8, device="cuda", dtype=kind))
    torch.dot(a[0], a[1]).backward()
    torch.mv(a.detach(), torch.randn(128, device="cuda"))
    torch.einsum("ij,kj->ik", a, a).sum().backward()
    eight = torch.randint(-8, 8, (64, 64), device="cuda", dtype=torch.int8)
    torch._int_mm(eight, eight)


def main():
    torch.manual_seed(1)
    for kind in (torch.float32, torch.float64, torch.complex64):
        factors(kind)
    transforms()
    sparse()
    products()


main()
print("done")
