import os

import torch
from torch.utils.data import Dataset


class Corpus(Dataset):
    def __init__(self, text, cache, block=128):
        if not os.path.exists(cache):
            with open(text, "rb") as f:
                ids = torch.frombuffer(bytearray(f.read()), dtype=torch.uint8).long()
            torch.save(ids, cache)
        self.ids = torch.load(cache, map_location="cpu", weights_only=True)
        self.block = block

    def __len__(self):
        return (self.ids.numel() - 1) // self.block

    def __getitem__(self, i):
        part = self.ids[i * self.block : (i + 1) * self.block + 1]
        return part[:-1], part[1:]
