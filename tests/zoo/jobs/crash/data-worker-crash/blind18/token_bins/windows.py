import torch
from torch.utils.data import Dataset

from binfile import BinReader


class Windows(Dataset):
    def __init__(self, path, block):
        self.reader = BinReader(path)
        self.block = block
        self.count = len(self.reader) // (block + 1)

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        ids = torch.from_numpy(self.reader.window(i * (self.block + 1), self.block + 1))
        return ids[:-1], ids[1:]
