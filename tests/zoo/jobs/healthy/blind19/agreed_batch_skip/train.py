import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from guard import LossGuard, gpu_name


class Sensor(Dataset):
    """Readings of a plant; dead sensors send NaN now and then."""

    def __init__(self, n=2000):
        g = torch.Generator().manual_seed(5)
        self.x = torch.randn(n, 48, generator=g)
        self.y = self.x[:, :6].abs().sum(dim=1, keepdim=True)
        self.x[::333, 11] = float("nan")

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    if rank == 0:
        gpu_name()
    torch.manual_seed(0)
    data = Sensor()
    sampler = DistributedSampler(data, drop_last=True)
    loader = DataLoader(data, 20, sampler=sampler, num_workers=1)
    model = DDP(nn.Sequential(nn.Linear(48, 384), nn.ReLU(), nn.Linear(384, 384), nn.ReLU(), nn.Linear(384, 1)))
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    guard = LossGuard()
    for epoch in range(5):
        sampler.set_epoch(epoch)
        total = steps = 0
        for x, y in loader:
            opt.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            if guard.bad(loss):
                print(f"rank {rank}: WARNING loss is {loss.item()}, batch skipped", flush=True)
                continue
            loss.backward()
            opt.step()
            total, steps = total + loss.item(), steps + 1
        if rank == 0:
            print(f"epoch {epoch} loss {total / steps:.4f}, {guard.skipped} batches skipped so far", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
