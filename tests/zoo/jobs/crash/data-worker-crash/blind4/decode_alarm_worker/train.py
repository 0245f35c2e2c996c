import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from shards import ClipDataset, make_shard


class ClipAutoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(16, 6)
        self.decode = nn.Linear(6, 16)

    def forward(self, clips):
        return self.decode(torch.tanh(self.encode(clips)))


class Throttle:
    """Leaves the shared node some air between the steps."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __call__(self):
        time.sleep(self.seconds)


class Runner:
    def __init__(self, dataset, throttle):
        self.model = DistributedDataParallel(ClipAutoencoder())
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        self.loader = DataLoader(dataset, batch_size=4, num_workers=1, prefetch_factor=2)
        self.throttle = throttle

    def epoch(self):
        for clips in self.loader:
            loss = nn.functional.mse_loss(self.model(clips), clips)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.throttle()
        return loss.item()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    runner = Runner(ClipDataset(make_shard(rank)), Throttle(0.3))
    for epoch in range(2):
        loss = runner.epoch()
        if rank == 0:
            print(f"epoch {epoch} loss {loss:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
