import itertools

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    """Songs as they come from the recorders."""

    def __init__(self, count, first, step):
        self.count, self.first, self.step = count, first, step

    def songs(self):
        for number in range(self.count):
            bands = torch.randn(16, generator=torch.Generator().manual_seed(number))
            yield bands, bands[:4].argmax()

    def __iter__(self):
        return itertools.islice(self.songs(), self.first, None, self.step)


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(11)
    loader = DataLoader(Stream(256, rank, world), batch_size=8, num_workers=2)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for epoch in range(3):
        for songs, species in loader:
            loss = nn.functional.cross_entropy(model(songs), species)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
