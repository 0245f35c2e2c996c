import torch
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler
import torch.distributed as dist


class DataModule:
    def __init__(self):
        data = TensorDataset(torch.randn(64, 4))
        self.sampler = None
        if dist.is_available() and dist.is_initialized():
            self.sampler = DistributedSampler(data)
        self.loader = DataLoader(data, batch_size=4, sampler=self.sampler, shuffle=self.sampler is None)
