import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def build_latent_pair_loader(data, batch):
    sampler = None
    if dist.is_available() and dist.is_initialized():
        sampler = DistributedSampler(data)
    return DataLoader(data, batch_size=batch, sampler=sampler, shuffle=sampler is None)
