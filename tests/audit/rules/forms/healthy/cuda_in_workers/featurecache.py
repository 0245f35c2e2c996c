import torch
from torch.utils.data import Dataset


class CachedFeatures(Dataset):
    def __init__(self, files, device, noise=0.0):
        self.noise = noise
        self.bank = {}
        self.index = []
        for f in files:
            blob = torch.load(f, map_location=device)
            self.bank[f] = (blob["features"].half(), blob["labels"])
            self.index += [(f, i) for i in range(len(blob["labels"]))]

    def __len__(self):
        return len(self.index)

    def __getitem__(self, i):
        name, row = self.index[i]
        feats, labels = self.bank[name]
        x = feats[row].float()
        if self.noise > 0:
            x = x + self.noise * torch.randn_like(x)
        return x, labels[row]
