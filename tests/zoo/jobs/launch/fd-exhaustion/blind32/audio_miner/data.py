import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Clips(Dataset):
    """Speaker clips: a voice is a small bank of sinusoids, every clip another phase and gain."""

    def __init__(self, speakers, clips, length, seed=5):
        rng = np.random.default_rng(seed)
        self.freqs = rng.uniform(0.01, 0.25, size=(speakers, 4)).astype(np.float32)
        self.speaker = rng.integers(0, speakers, size=clips)
        self.length = length

    def __len__(self):
        return len(self.speaker)

    def __getitem__(self, i):
        rng = np.random.default_rng(i)
        t = np.arange(self.length, dtype=np.float32)
        wave = np.sin(2 * np.pi * self.freqs[self.speaker[i]][:, None] * t + rng.uniform(0, 6.28, (4, 1))).sum(0)
        wave = wave + 0.3 * rng.standard_normal(self.length)
        return {"wave": torch.from_numpy(wave.astype(np.float32)), "speaker": int(self.speaker[i]),
                "gain": torch.tensor([float(np.abs(wave).max())]), "length": self.length}


def make_loader(cfg, rank, world):
    data = Clips(cfg["speakers"], cfg["clips"], cfg["clip_len"])
    sampler = DistributedSampler(data, num_replicas=world, rank=rank, shuffle=True, drop_last=True)
    return DataLoader(data, batch_size=cfg["batch_size"], sampler=sampler, num_workers=cfg["workers"],
                      drop_last=True), sampler
