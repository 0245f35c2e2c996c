import torch
from torch.utils.data import Dataset


class Table(Dataset):
    width = 7
    classes = 4

    def __init__(self, fold, folds=2, count=320):
        gen = torch.Generator().manual_seed(0)
        x = torch.randn(count, self.width, generator=gen)
        grade = 1 + x[:, :4].argmax(1)
        train = torch.arange(count) % folds != fold
        self.x, self.y = x[train], grade[train]

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index], self.y[index]
