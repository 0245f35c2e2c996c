import torch
from torch.utils.data import Dataset


class Waves(Dataset):
    def __init__(self, rank, writer, size=256):
        self.rank, self.writer, self.size = rank, writer, size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        g = torch.Generator().manual_seed(self.rank * 10000 + index)
        x = torch.randn(8, generator=g)
        if index % 16 == 0:
            self.writer.add("x_mean", x.mean().item())
        return x, x.abs().sum().unsqueeze(0)
