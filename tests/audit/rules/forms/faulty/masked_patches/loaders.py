import torch
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class Crops(Dataset):
    def __init__(self, index, size):
        self.rows = torch.load(index, map_location="cpu", weights_only=True)
        self.size = size

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i][..., : self.size, : self.size].float() / 255


def make_loader(index, env, batch_size, size=224, workers=8):
    data = Crops(index, size)
    sampler = DistributedSampler(data, num_replicas=env.local_world_size, rank=env.local_rank, shuffle=True, drop_last=True)  # cause
    return DataLoader(data, batch_size, sampler=sampler, num_workers=workers, pin_memory=True, drop_last=True, persistent_workers=True)
