"""One generator in a transform, two loaders that copy it: told once, where it is made."""

import numpy as np
from torch.utils.data import DataLoader, Dataset

from noise import Noise


class Signals(Dataset):
    def __init__(self, path, transform):
        self.rows, self.transform = np.load(path), transform

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, at):
        return self.transform(self.rows[at])



def main():
    shared = Noise(3)
    train = DataLoader(Signals("train.npy", shared), 64, shuffle=True, num_workers=8)
    val = DataLoader(Signals("val.npy", shared), 64, num_workers=2)
    for x in train:
        print(x.sum())
    for x in val:
        print(x.sum())


main()
