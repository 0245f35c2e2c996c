import math

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Sampler, TensorDataset


class Buckets(Sampler):
    def __init__(self, lengths, batch_size):
        order = sorted(range(len(lengths)), key=lengths.__getitem__)
        self.groups = [order[at : at + batch_size] for at in range(0, len(order), batch_size)]
        self.rank, self.world_size = dist.get_rank(), dist.get_world_size()

    def __iter__(self):
        missing = math.ceil(len(self.groups) / self.world_size) * self.world_size - len(self.groups)
        batches = self.groups + self.groups[:missing]
        return iter(batches[self.rank :: self.world_size])

    def __len__(self):
        return len(self.groups) // self.world_size


def main():
    dist.init_process_group("gloo")
    data = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
    sampler = Buckets(list(range(64)), 6)
    loader = DataLoader(data, batch_sampler=sampler)
    model = DDP(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
