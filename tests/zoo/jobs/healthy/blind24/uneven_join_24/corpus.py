import torch
from torch.utils.data import IterableDataset, get_worker_info


class Speakers(IterableDataset):
    """Every rank has speakers of its own, of whom some said more than others."""

    def __init__(self, rank, world, speakers=9):
        self.mine = list(range(rank, speakers, world))

    def __iter__(self):
        info = get_worker_info()
        for speaker in self.mine[info.id::info.num_workers]:
            g = torch.Generator().manual_seed(speaker)
            voice = torch.randn(24, generator=g)
            for _ in range(60 + 45 * (speaker % 4)):
                yield voice + 0.7 * torch.randn(24, generator=g), speaker
