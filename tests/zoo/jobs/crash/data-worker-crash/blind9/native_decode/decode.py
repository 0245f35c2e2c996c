import ctypes

import torch

libc = ctypes.CDLL(None)
libc.memcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]


class FrameStore:
    def __init__(self, frames):
        self.frames = frames
        self.address = [f.data_ptr() if f is not None else 0 for f in frames]
        self.size = 64 * 4

    def read(self, i):
        out = torch.empty(64)
        libc.memcpy(out.data_ptr(), self.address[i], self.size)
        return out
