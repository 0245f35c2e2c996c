import ctypes
from pathlib import Path

import torch

_lib = ctypes.CDLL(str(Path(__file__).with_name("libmask.so")))
_lib.fill_mask.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_float, ctypes.c_int64]
_lib.fill_mask.restype = None


class FastDropout(torch.nn.Module):
    def __init__(self, rate, seed):
        super().__init__()
        self.rate, self.seed = rate, seed

    def forward(self, x):
        rate, seed = self.rate, self.seed
        mask = torch.empty_like(x)
        _lib.fill_mask(mask.data_ptr(), mask.numel(), rate, seed)
        return x * mask
