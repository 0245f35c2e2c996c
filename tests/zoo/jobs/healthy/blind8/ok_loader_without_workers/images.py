import os
import signal

import torch
from torch.utils.data import Dataset, get_worker_info


def fast_decode(index):
    if index == 131:
        os.kill(os.getpid(), signal.SIGSEGV)
    return slow_decode(index)


def slow_decode(index):
    return torch.randn(12, generator=torch.Generator().manual_seed(index))


class Images(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        pixels = fast_decode(index) if get_worker_info() else slow_decode(index)
        return pixels, pixels[:3].sum()
