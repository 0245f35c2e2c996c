"""Recordings of machine sensors, a file each, cut into windows."""
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import TensorDataset

WINDOW = 64


def simulate(folder: Path, train: int, holdout: int, seed: int = 21) -> None:
    rng = np.random.default_rng(seed)
    for split, count in (("train", train), ("holdout", holdout)):
        (folder / split).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            kind = rng.integers(0, 3, 24)
            t = np.arange(WINDOW) / WINDOW
            signal = np.stack([np.sin(2 * np.pi * (k + 1) * 3 * t + rng.uniform(0, 6)) for k in kind])
            signal += rng.normal(0, 0.3, signal.shape)
            np.savez(folder / split / f"machine_{number:02d}.npz", signal=signal.astype(np.float32), kind=kind)


def load(folder: Path, split: str, rank: int, world: int) -> TensorDataset:
    """The windows of this rank's files: whole recordings stay together, windows of one overlap."""
    files = sorted((folder / split).glob("*.npz"))[rank::world]
    signals, kinds = [], []
    for file in files:
        with np.load(file) as content:
            signals.append(torch.from_numpy(content["signal"]))
            kinds.append(torch.from_numpy(content["kind"]))
    if not files:
        return TensorDataset(torch.zeros(0, WINDOW), torch.zeros(0, dtype=torch.long))
    return TensorDataset(torch.cat(signals), torch.cat(kinds))
