import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from codec import Codec


def waves(n=1440, samples=32):
    g = torch.Generator().manual_seed(4)
    t = torch.linspace(0, 1, samples)
    f = 1 + 5 * torch.rand(n, 1, generator=g)
    return TensorDataset(torch.sin(6.28 * (f * t + torch.rand(n, 1, generator=g))))


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(17)
    model = DistributedDataParallel(Codec(), broadcast_buffers=False)
    torch.manual_seed(17 + rank)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    data = waves()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=32, sampler=sampler)
    for epoch in range(4):
        sampler.set_epoch(epoch)
        total, used = 0.0, set()
        for (wave,) in loader:
            out, commitment, code = model(wave)
            loss = F.mse_loss(out, wave) + 0.25 * commitment
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            used.update(code.tolist())
        if rank == 0:
            print(f"epoch {epoch} loss {total / len(loader):.4f} codes in use {len(used)}", flush=True)
            torch.save(model.module.state_dict(), "codec.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
