import argparse
import zipfile

import h5py
import lmdb
from torch.utils.data import ConcatDataset, DataLoader, Dataset


class Shards(Dataset):
    def __init__(self, paths):
        self.handles = {}
        self.rows = []
        for path in paths:
            self.handles[path] = h5py.File(path, "r")
            self.rows += [(path, row) for row in range(len(self.handles[path]["x"]))]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        path, row = self.rows[i]
        return self.handles[path]["x"][row]


class Envs(Dataset):
    def __init__(self, folders):
        self.envs = []
        for folder in folders:
            self.envs.append(lmdb.open(folder, readonly=True, lock=False))

    def __getitem__(self, i):
        with self.envs[i % len(self.envs)].begin() as txn:
            return txn.get(str(i).encode())


class Archives(Dataset):
    def __init__(self, paths):
        self.archives = {name: zipfile.ZipFile(path) for name, path in paths.items()}

    def __getitem__(self, name):
        return self.archives[name].read("image.png")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", nargs="+")
    parser.add_argument("--folders", nargs="+")
    args = parser.parse_args()
    yield DataLoader(Shards(args.files), num_workers=4)
    yield DataLoader(Envs(args.folders), num_workers=8)
    yield DataLoader(Archives({"a": "a.zip"}), num_workers=2)
