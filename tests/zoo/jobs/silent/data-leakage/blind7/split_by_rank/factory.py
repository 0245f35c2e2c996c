import torch
from torch.utils.data import DataLoader, Dataset, random_split
from torch.utils.data.distributed import DistributedSampler


class FrameDataset(Dataset):
    """Frames of recorded episodes with the action that the operator took."""

    def __init__(self, cfg):
        g = torch.Generator().manual_seed(7)
        self.obs = torch.randn(cfg.frames, cfg.features, generator=g)
        self.action = torch.randint(0, 4, (cfg.frames,), generator=g)

    def __len__(self):
        return len(self.obs)

    def __getitem__(self, i):
        return self.obs[i], self.action[i]


def make_dataset(cfg):
    full = FrameDataset(cfg)
    n_val = int(len(full) * cfg.val_ratio)
    return random_split(full, [len(full) - n_val, n_val])


def make_loaders(cfg, rank, world):
    train, val = make_dataset(cfg)
    sampler = DistributedSampler(train, num_replicas=world, rank=rank, shuffle=True, seed=cfg.seed)
    train_loader = DataLoader(train, batch_size=cfg.batch_size, sampler=sampler, drop_last=True)
    val_sampler = DistributedSampler(val, num_replicas=world, rank=rank, shuffle=False)
    val_loader = DataLoader(val, batch_size=cfg.batch_size, sampler=val_sampler)
    return train_loader, val_loader
