import functools
import time

import torch
from torch.utils.data import Dataset


def retry(times, wait):
    def wrap(function):
        @functools.wraps(function)
        def inner(*args):
            for attempt in range(times):
                try:
                    return function(*args)
                except OSError as error:
                    print(f"read failed ({error}), attempt {attempt + 1} of {times}", flush=True)
                    time.sleep(wait)
            return function(*args)
        return inner
    return wrap


class Store(Dataset):
    def __init__(self, size=128):
        self.size, self.failed = size, set()

    def __len__(self):
        return self.size

    @retry(3, 0.2)
    def read(self, i):
        if i % 30 == 7 and i not in self.failed:
            self.failed.add(i)
            raise OSError(5, "Input/output error")
        return torch.randn(10, generator=torch.Generator().manual_seed(i))

    def __getitem__(self, i):
        try:
            if i == 64:
                raise ValueError(f"sample {i}: truncated image")
            x = self.read(i)
        except ValueError as error:
            print(f"{error}, taking its neighbour", flush=True)
            return self[(i + 1) % self.size]
        return x, x[:3].sum().unsqueeze(0)
