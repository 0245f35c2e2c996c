import torch
from torch.utils.data import DataLoader, Dataset


class Blocks(Dataset):
    def __init__(self, path):
        self.rows = torch.load(path)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


def text_loader(path):
    return DataLoader(Blocks(path), batch_size=8, shuffle=True)
