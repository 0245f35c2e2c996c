import torch
import torch.distributed as dist
from torch.utils.data import Dataset


class Shard(Dataset):
    def __init__(self, name):
        self.rows = torch.load(f"{name}-{dist.get_rank()}.pt")

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
