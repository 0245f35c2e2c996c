import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from data import Cached


class Fixed(torch.utils.data.Sampler):
    """Each rank keeps its own part, so that its cache serves all epochs, in a new order each epoch."""

    def __init__(self, count, rank, world):
        self.indices = torch.arange(rank, count, world)
        self.epoch = 0

    def __len__(self):
        return len(self.indices)

    def __iter__(self):
        g = torch.Generator().manual_seed(self.epoch)
        return iter(self.indices[torch.randperm(len(self.indices), generator=g)].tolist())


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    sampler = Fixed(800, rank, world)
    loader = DataLoader(Cached(800), batch_size=8, sampler=sampler)
    model = DDP(nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(6):
        sampler.epoch = epoch
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
