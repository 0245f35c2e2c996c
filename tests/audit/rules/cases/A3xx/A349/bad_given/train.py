import torch
from torch.utils.data import DataLoader, Dataset


class Turned(torch.nn.Module):
    def get_params(self):
        return int(torch.randint(0, 4, (1,)))

    def forward(self, x):
        times = self.get_params()
        return torch.rot90(x, times, (-2, -1))


class Chain:
    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, x):
        for one in self.steps:
            x = one(x)
        return x


class Pairs(Dataset):
    def __init__(self, rows, transform=None, target_transform=None):
        self.rows, self.transform, self.target_transform = rows, transform, target_transform

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, at):
        x, target = self.rows[at]
        if self.transform:
            x = self.transform(x)
        if self.target_transform:
            target = self.target_transform(target)
        return x, target


def build(rows):
    train = {"image": Chain(Turned(), torch.nn.Identity()), "mask": Chain(Turned())}
    return DataLoader(Pairs(rows, transform=train["image"], target_transform=train["mask"]), 4)
