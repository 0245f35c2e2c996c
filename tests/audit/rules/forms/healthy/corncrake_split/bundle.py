import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler, random_split


class Scans(Dataset):
    def __init__(self, path):
        blob = torch.load(path, map_location="cpu", mmap=True, weights_only=True)
        self.volume, self.grade = blob["volume"], blob["grade"]

    def __len__(self):
        return self.volume.size(0)

    def __getitem__(self, i):
        v = self.volume[i].float()
        return v + 0.01 * torch.randn_like(v), self.grade[i]


class Bundle:
    def __init__(self, path, batch, share=0.1):
        scans = Scans(path)
        held = int(len(scans) * share)
        self.train, self.val = random_split(scans, [len(scans) - held, held], generator=torch.Generator().manual_seed(7))
        self.order = DistributedSampler(self.train, shuffle=True, drop_last=True)
        self.train_loader = DataLoader(self.train, batch, sampler=self.order, num_workers=4, drop_last=True)
        self.val_loader = DataLoader(self.val, batch, sampler=DistributedSampler(self.val, shuffle=False), num_workers=2)
