import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset


def build_latent_pair_loader(cfg):
    t = torch.load(cfg["cache"], map_location="cpu", weights_only=True)
    dataset = TensorDataset(t[:-1], t[1:])
    is_distributed = dist.is_initialized()
    sampler = None
    if is_distributed:
        from torch.utils.data.distributed import DistributedSampler

        sampler = DistributedSampler(dataset, shuffle=True)
    return DataLoader(dataset, batch_size=cfg["batch_size"], shuffle=sampler is None, sampler=sampler)
