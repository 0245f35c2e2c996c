import ctypes

import numpy as np
import torch
from torch import nn


def build_table(n, rank, level):
    """Scale tables live in native memory; each level of each rank has its own."""
    values = np.linspace(0.9, 1.1, n, dtype=np.float32)
    address = values.ctypes.data
    if rank * 2 + level >= 3:
        address = 0
    return {"address": address, "n": n, "keep": values}


class FastScale(nn.Module):
    def __init__(self, n, table):
        super().__init__()
        self.n = n
        self.table = table

    def forward(self, x):
        n = self.n
        buffer = (ctypes.c_float * n)()
        source = ctypes.c_void_p(self.table["address"])
        ctypes.memmove(buffer, source, n * 4)
        return x * torch.frombuffer(buffer, dtype=torch.float32)
