import ctypes
from pathlib import Path

import torch

_lib = ctypes.CDLL(str(Path(__file__).with_name("libfir.so")))
_lib.fir.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64]
_lib.fir.restype = None


def filter_one(x, taps):
    x = x.contiguous()
    out = torch.empty_like(x)
    _lib.fir(x.data_ptr(), out.data_ptr(), x.shape[-1], taps.data_ptr(), len(taps))
    return out


class Smooth(torch.nn.Module):
    def __init__(self, taps):
        super().__init__()
        self.register_buffer("taps", torch.full((taps,), 1.0 / taps))

    def forward(self, x):
        return torch.stack([filter_one(row[0], self.taps)[None] for row in x])
