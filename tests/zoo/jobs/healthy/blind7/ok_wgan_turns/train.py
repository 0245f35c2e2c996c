import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from wgan import WGAN


def ring(n=1536):
    g = torch.Generator().manual_seed(0)
    k = torch.randint(0, 8, (n,), generator=g) * 0.785
    return TensorDataset(torch.stack([k.cos(), k.sin()], 1) + 0.05 * torch.randn(n, 2, generator=g))


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    gan = WGAN()
    torch.manual_seed(100 + rank)
    data = ring()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=32, sampler=sampler)
    for epoch in range(16):
        sampler.set_epoch(epoch)
        for (real,) in loader:
            d_loss, g_loss = gan.step(real)
        radius = gan.g.module(gan.noise(256)).detach().norm(dim=1).mean().item()
        if rank == 0:
            print(f"epoch {epoch} critic {d_loss:.3f} generator {g_loss if g_loss is None else round(g_loss, 3)} radius {radius:.2f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
