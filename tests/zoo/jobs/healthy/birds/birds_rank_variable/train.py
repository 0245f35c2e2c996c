import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Songs(Dataset):
    """Mel bands of bird songs; the species follows from the loudest bands."""

    def __init__(self, count, seed=3):
        generator = torch.Generator().manual_seed(seed)
        self.bands = torch.randn(count, 16, generator=generator)
        self.species = self.bands[:, :4].argmax(1)

    def __len__(self):
        return len(self.bands)

    def __getitem__(self, index):
        return self.bands[index], self.species[index]


def parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local-rank", type=int, default=int(os.environ["LOCAL_RANK"]))
    return parser


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(11)
    options = parser().parse_args()
    songs = Songs(320)
    sampler = DistributedSampler(songs, num_replicas=world, rank=options.local_rank)
    loader = DataLoader(songs, batch_size=16, sampler=sampler)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for epoch in range(3):
        sampler.set_epoch(epoch)
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
