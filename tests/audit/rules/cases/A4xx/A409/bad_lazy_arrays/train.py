import argparse

import h5py
import torch
from torch.utils.data import DataLoader, Dataset


class Frames(Dataset):
    def __init__(self, path):
        self.images = h5py.File(path, "r")["images"]
        self.labels = torch.load(path + ".labels")

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return torch.from_numpy(self.images[i]), self.labels[i]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data")
    parser.add_argument("--workers", type=int, default=8)
    args = parser.parse_args()
    loader = DataLoader(Frames(args.data), batch_size=4, shuffle=True, num_workers=args.workers)
    for images, labels in loader:
        print(images.mean(), labels.sum())


if __name__ == "__main__":
    main()
