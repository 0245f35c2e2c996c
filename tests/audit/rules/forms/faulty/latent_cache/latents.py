import os
from pathlib import Path

import torch
from torch.utils.data import Dataset


class LatentWriter:
    def __init__(self, folder, rank):
        self.folder, self.rank, self.count = Path(folder), rank, 0
        self.folder.mkdir(parents=True, exist_ok=True)

    def add(self, latents, labels):
        for z, y in zip(latents, labels):
            name = self.folder / f"r{self.rank:02d}-{self.count:07d}.pt"
            torch.save({"z": z.detach().clone(), "y": int(y)}, name)  # cause
            self.count += 1


class Latents(Dataset):
    def __init__(self, folder):
        self.files = sorted(Path(folder).glob("r*.pt"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        item = torch.load(self.files[i])  # cause
        return item["z"], item["y"]
