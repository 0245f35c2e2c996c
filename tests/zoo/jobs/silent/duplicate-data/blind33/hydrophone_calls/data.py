"""Spectrogram segments of hydrophone recordings and their loaders."""
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler

CALL_TYPES = ("noise", "upcall", "song")
PRIOR = (0.80, 0.14, 0.06)


def synth_segment(rng, label, bins=24, frames=32):
    spec = rng.normal(0, 1.0, (bins, frames)).astype(np.float32)
    t = np.arange(frames)
    if label == 1:
        rows = np.clip(4 + t * 0.45 + rng.normal(0, 1), 0, bins - 1).astype(int)
        spec[rows, t] += 1.6
    elif label == 2:
        rows = np.clip(12 + 5 * np.sin(t * 0.5 + rng.uniform(0, 6)), 0, bins - 1).astype(int)
        spec[rows, t] += 1.6
    return spec


class SegmentDataset(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.labels = rng.choice(len(CALL_TYPES), size=n, p=PRIOR)
        self.specs = np.stack([synth_segment(rng, y) for y in self.labels])
        self.mean, self.std = self.specs.mean(), self.specs.std()

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        x = (self.specs[i] - self.mean) / self.std
        return torch.from_numpy(x)[None], int(self.labels[i])


def build_sampler(dataset, seed):
    counts = np.bincount(dataset.labels, minlength=len(CALL_TYPES))
    weights = counts.sum() / np.maximum(counts, 1)
    generator = torch.Generator().manual_seed(seed)
    return WeightedRandomSampler(torch.as_tensor(weights), num_samples=len(dataset), replacement=True, generator=generator)


def build_loaders(cfg):
    train = SegmentDataset(cfg["train_segments"], cfg["seed"])
    val = SegmentDataset(cfg["val_segments"], cfg["seed"] + 1)
    val.mean, val.std = train.mean, train.std
    sampler = build_sampler(train, cfg["seed"]) if cfg["equalize_classes"] else None
    train_loader = DataLoader(train, batch_size=cfg["batch_size"], sampler=sampler, shuffle=sampler is None)
    return train_loader, DataLoader(val, batch_size=128)
