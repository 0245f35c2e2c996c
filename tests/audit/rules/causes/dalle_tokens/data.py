from dataclasses import dataclass
from pathlib import Path

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class TextImage(Dataset):
    def __init__(self, folder):
        self.paths = sorted(Path(folder).glob("*.pt"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        pair = torch.load(self.paths[i], map_location="cpu")
        return pair["text"], pair["image"]


@dataclass
class DataBundle:
    folder: str
    batch_size: int
    workers: int = 4

    def __post_init__(self):
        self.dataset = TextImage(self.folder)
        self.sampler = DistributedSampler(  # cause
            self.dataset, num_replicas=dist.get_world_size(), rank=dist.get_rank(), shuffle=True, seed=13)  # cause

    def loader(self):
        return DataLoader(self.dataset, self.batch_size, sampler=self.sampler, num_workers=self.workers,
                          pin_memory=True, drop_last=True)
