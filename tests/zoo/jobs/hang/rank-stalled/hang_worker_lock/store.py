import multiprocessing

import torch
from torch.utils.data import Dataset


def file_list(rank, count=160):
    files = [f"part{rank}/{i:04d}" for i in range(count)]
    if rank == 1:
        files[130] = files[7]  # the list was merged by hand
    return files


class CachedRows(Dataset):
    def __init__(self, files):
        self.files = files
        self.lock = multiprocessing.Lock()
        self.cache = {}

    def __len__(self):
        return len(self.files)

    def read(self, name):
        return torch.randn(16, generator=torch.Generator().manual_seed(hash(name) % 10**9))

    def __getitem__(self, i):
        name = self.files[i]
        self.lock.acquire()
        if name in self.cache:
            return self.cache[name]
        self.cache[name] = self.read(name)
        self.lock.release()
        return self.cache[name]
