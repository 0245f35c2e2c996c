"""Packed filterbank features: one flat float32 file and an index, mapped by every rank."""
import os

import numpy as np
import torch
from torch.utils.data import Dataset

FRAMES, MELS = 40, 40


def pack(path, utterances, seed):
    rng = np.random.default_rng(seed)
    with open(path, "wb") as out:
        for _ in range(utterances):
            out.write(rng.standard_normal((FRAMES, MELS), dtype=np.float32).tobytes())
    return path


class PackedFeatures(Dataset):
    def __init__(self, path):
        rows = os.path.getsize(path) // (4 * FRAMES * MELS)
        self.data = np.memmap(path, dtype=np.float32, mode="r", shape=(rows, FRAMES, MELS))

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        feats = torch.from_numpy(np.array(self.data[i]))
        return feats, int(i % 11)
