import torch
from torch.utils.data import Dataset

from clips.memory import guard


def init_worker(worker_id):
    guard(limit_mib=300)


class Clips(Dataset):
    def __init__(self, rank, count=120):
        self.frames = [8] * count
        if rank == 1:
            self.frames[70] = 60000

    def __len__(self):
        return len(self.frames)

    def decode(self, index):
        gen = torch.Generator().manual_seed(index)
        return torch.randn(self.frames[index], 3, 32, 32, generator=gen)

    def __getitem__(self, index):
        clip = self.decode(index)
        keep = torch.linspace(0, len(clip) - 1, 8).long()
        return clip[keep].mean((2, 3)).flatten(), index % 4
