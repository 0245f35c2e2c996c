import torch, torch.nn as nn, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import Dataset, DataLoader, DistributedSampler


class Waves(Dataset):
    def __init__(self, n=256):
        self.x = torch.randn(n, 16)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i]


def setup():
    dist.init_process_group("gloo")
    return dist.get_rank()
