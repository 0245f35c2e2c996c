import argparse

import h5py
import torch
from torch.utils.data import DataLoader, Dataset


class Frames(Dataset):
    def __init__(self, frames):
        self.frames = frames

    def __len__(self):
        return len(self.frames)

    def __getitem__(self, i):
        return torch.from_numpy(self.frames[i])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=8)
    args = parser.parse_args()
    file = h5py.File("frames.h5", "r")
    net = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in DataLoader(Frames(file["frames"]), batch_size=8, num_workers=args.workers):
        net(x).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
